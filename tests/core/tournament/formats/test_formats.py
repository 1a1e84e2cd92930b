"""What holds of all formats together."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest

from arena.core.errors import ConfigError
from arena.core.tournament.formats import FORMATS, Extension

EXTENSION = Extension(deals=5, extends="an older one", unchanged=(0, 1), played=3)
ALL = {name: EXTENSION if name == "extension" else format() for name, format in FORMATS.items()}
"""Each format, with its defaults where it has them: only an extension follows from another tournament."""


@pytest.mark.parametrize("name", ALL)
def test_the_name_is_the_tag_and_a_description_is_read_back(name: str) -> None:
    format = ALL[name]
    encoded = msgspec.json.encode(format)
    assert msgspec.json.decode(encoded, type=FORMATS[name]) == format
    assert msgspec.json.decode(encoded)["name"] == name


@pytest.mark.parametrize("name", ALL)
def test_a_format_is_explained_and_its_document_has_all_parameters(name: str) -> None:
    format = ALL[name]
    assert format.__doc__
    document = format.document(4, 2)
    assert document["format"] == name
    assert set(format.__struct_fields__) - {"planning", "margin"} <= set(document), "these two only where they matter"
    assert format.document(9, 4).get("planning") == (format.planning if format.depends_on_planning(4) else None)
    assert msgspec.json.decode(msgspec.json.encode(document)) == document, "verify would see a difference"


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(("entrants", "players"), [(1, 2), (0, 2), (3, 4), (2, 1)])
def test_too_few_bots_or_players_are_refused(name: str, entrants: int, players: int) -> None:
    with pytest.raises(ConfigError, match="expected at least"):
        ALL[name].check(entrants, players)


@pytest.mark.parametrize("name", ALL)
def test_no_deal_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="expected at least 1 deal, got: 0; use --deals"):
        msgspec.structs.replace(ALL[name], deals=0).check(6, 2 if name != "compare" else 3)


def test_importing_formats_imports_nothing_slow() -> None:
    slow = {"numpy", "networkx", "scipy", "trueskill"}
    code = f"import sys, arena.core.tournament.formats; print({slow} & set(sys.modules))"
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert output.strip() == "set()"
