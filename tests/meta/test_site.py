"""The site of documentation has every page that a link leads to, and no dead link."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))

from site_of_docs import collect, llms  # noqa: E402


def test_every_link_leads_somewhere_and_every_page_is_in_the_navigation() -> None:
    reached, faults = collect(ROOT)
    assert faults == []
    pages = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md")}
    assert pages - {path.relative_to(ROOT).as_posix() for path in reached} == set(), "no link leads there"


def test_llms_txt_leads_to_pages_of_the_site() -> None:
    reached, _ = collect(ROOT)
    linked = re.findall(r"\]\(([^)#]+)", re.sub(r"`[^`\n]*`", "", llms(ROOT)))
    assert {ROOT / link.replace(".html", ".md") for link in linked if not link.startswith("#")} <= reached
    assert "protocol/SPEC.html" in linked


def test_a_dead_link_and_a_page_without_a_place_are_faults(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("[one](docs/one.md#there) `[no](link.md)` ![two](docs/two.png) [x](x:y)")
    (tmp_path / "docs" / "one.md").write_text("[back](../README.md) [out](../../secret)\n```\n[no](link.md)\n```\n")
    (tmp_path / "docs" / "mkdocs.yml").write_text("nav:\n  - Start: README.md\n")
    faults = [fault.replace(str(tmp_path.parent), "") for fault in collect(tmp_path)[1]]
    name = tmp_path.name
    assert faults == [
        f"README.md: expected a file of the project, got a link to: /{name}/docs/two.png",
        "docs/one.md: expected a file of the project, got a link to: /secret",
        f"docs/mkdocs.yml: expected every page in the navigation, lacking: /{name}/docs/one.md",
    ]
