"""What holds of all formats together."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest

from arena.errors import ConfigError
from arena.tournament.formats import FORMATS, AnyFormat


@pytest.mark.parametrize("name", FORMATS)
def test_the_name_is_the_tag_and_a_description_is_read_back(name: str) -> None:
    format = FORMATS[name]()
    encoded = msgspec.json.encode(format)
    assert msgspec.json.decode(encoded, type=AnyFormat) == format
    assert msgspec.json.decode(encoded)["name"] == name


@pytest.mark.parametrize("name", FORMATS)
def test_every_parameter_has_a_default_and_an_explanation(name: str) -> None:
    format = FORMATS[name]
    assert format.__doc__
    document = format().document(4, 2)
    assert document["format"] == name
    assert set(format.__struct_fields__) <= set(document)
    msgspec.json.encode(document)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(("entrants", "players"), [(1, 2), (0, 2), (3, 4), (2, 1)])
def test_too_few_bots_or_players_are_refused(name: str, entrants: int, players: int) -> None:
    with pytest.raises(ConfigError, match="expected at least"):
        FORMATS[name]().check(entrants, players)


@pytest.mark.parametrize("name", FORMATS)
def test_no_deal_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="expected at least 1 deal, got: 0; use --deals"):
        msgspec.structs.replace(FORMATS[name](), deals=0).check(6, 2 if name != "compare" else 3)


def test_importing_formats_imports_nothing_slow() -> None:
    code = "import sys, arena.tournament.formats; print({'numpy', 'networkx', 'scipy', 'trueskill'} & set(sys.modules))"
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert output.strip() == "set()"
