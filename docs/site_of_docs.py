"""Writes the site of documentation into build/documentation, for any browser.

Its pages are those to which links lead from the README, with all that they link to, and `llms.txt`. A dead link fails,
and so does a page that has no place in the navigation.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build"
_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"""\]\(([^)\s#]+)|(?:src|srcset|href)="([^"#]+)""")
WIDE = ".md-typeset td:first-child>code{white-space:nowrap}"
WIDE += ".md-grid{max-width:72rem}.md-typeset pre>code{font-size:.76em}@media(width>76em){code{white-space:pre-wrap}}"
UNSEEN = "\N{WORD JOINER}"
_ENTRY = re.compile(r"^ +- .+: (\S+\.md)$", re.MULTILINE)


def links(page: Path) -> set[Path]:
    """Returns the files and folders to which a page links."""
    found = [link for pair in _LINK.findall(_CODE.sub("", page.read_text("utf-8"))) for link in pair if link]
    return {(page.parent / link).resolve() for link in found if not re.match(r"[a-z]+:", link)}


def collect(root: Path) -> tuple[set[Path], list[str]]:
    """Returns the files and folders of a site, and what is wrong with the links between them.

    Args:
        root: The folder of the README. Its docs/mkdocs.yml has the navigation.
    """
    reached, faults = {root / "README.md"}, []
    coming = [*reached]
    while coming:
        page = coming.pop()
        for target in sorted(links(page) - reached):
            if not target.exists() or not target.is_relative_to(root):
                faults.append(f"{page.relative_to(root)}: expected a file of the project, got a link to: {target}")
                continue
            reached.add(target)
            coming += [target] * (target.suffix == ".md")
    placed = {root / name for name in _ENTRY.findall((root / "docs" / "mkdocs.yml").read_text("utf-8"))}
    lacking = sorted(page for page in reached - placed if page.suffix == ".md")
    faults += [f"docs/mkdocs.yml: expected every page in the navigation, lacking: {page}" for page in lacking]
    return reached, faults


def llms(root: Path) -> str:
    """Returns the page for authors of bots as `llms.txt`, which programs that write programs look for."""
    page = (root / "protocol" / "BOT.md").read_text("utf-8")
    return re.sub(r"\]\(([\w/]+)\.md", r"](protocol/\1.html", page)


def rank_guides_first(index: Path) -> None:
    """Has guides found before the protocol, in a search that ranks titles before texts, and texts by a word's place.

    Words in titles of the protocol are found in its texts alone, and these begin late: after words that nobody sees.
    """
    found = json.loads(index.read_text("utf-8"))
    for item in filter(lambda item: item["location"].startswith("protocol/"), found["items"]):
        item["text"] = f"{f'{UNSEEN} ' * 500}{item['title']} {item['text']}"
        item["title"] = re.sub(r"(?<![^\s`>])(?=\w)", UNSEEN, item["title"])
    index.write_text(json.dumps(found), "utf-8")


def main() -> int:
    """Writes the site. Returns the exit code."""
    reached, faults = collect(ROOT)
    if faults:
        print("\n".join(faults), file=sys.stderr)
        return 1
    shutil.rmtree(BUILD / "pages", ignore_errors=True)
    for source in sorted(reached):
        place = BUILD / "pages" / source.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, place, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
        else:
            shutil.copy(source, place)
    (BUILD / "pages" / "wide.css").write_text(WIDE, "utf-8")
    (BUILD / "pages" / "llms.txt").write_text(llms(ROOT), "utf-8")
    config = shutil.copy(ROOT / "docs" / "mkdocs.yml", BUILD)
    built = subprocess.run([sys.executable, "-m", "zensical", "build", "--clean", "--strict", "-f", config])
    if built.returncode == 0:
        rank_guides_first(BUILD / "documentation" / "search.json")
    return built.returncode


if __name__ == "__main__":
    sys.exit(main())
