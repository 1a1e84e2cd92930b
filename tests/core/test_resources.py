"""The data that travels with the package is found by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena import __version__
from arena.core import resources
from arena.core.errors import ConfigError, InternalError, did_you_mean
from arena.core.resources import board_names, board_text, bots_folder, protocol_folder


def test_the_folders_are_there() -> None:
    assert list(bots_folder().glob("*/*/bot.toml"))
    assert protocol_folder().is_dir()


def test_a_bundled_board_by_name() -> None:
    assert "japan" in board_names()
    name, text = board_text("japan")
    assert name == "japan"
    assert "map:" in text


def test_a_board_by_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("name: mine\n", encoding="utf-8")
    assert board_text(str(path)) == ("mine", "name: mine\n")


def test_an_unknown_board_suggests_a_close_one() -> None:
    with pytest.raises(ConfigError, match=r"a bundled board \(.*japan.*\), got: 'jappan' \(did you mean 'japan'\?\)"):
        board_text("jappan")


def test_a_board_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="in UTF-8"):
        board_text(str(tmp_path / "b.txt"))


def test_an_installed_package_has_its_data_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "boards").mkdir()  # somebody else's, beside the package
    (tmp_path / "arena" / "bundled" / "boards").mkdir(parents=True)
    monkeypatch.setattr(resources, "_PACKAGE", tmp_path / "arena")
    assert resources.boards_folder() == tmp_path / "arena" / "bundled" / "boards"
    with pytest.raises(InternalError, match="neither"):
        resources.bots_folder()


def test_nothing_close_suggests_nothing() -> None:
    assert did_you_mean("xyz", ["random"]) == ""
    assert did_you_mean("kuhn", ["leduc_poker", "kuhn_poker"]) == " (did you mean 'kuhn_poker'?)"


def test_the_version_of_the_code_is_that_of_its_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So two machines with the same number and other code are told apart, and a wheel and a checkout are not."""

    def version(name: str, **modules: str) -> str:
        for module, text in {"one": "x = 1\n", "two": "", **modules}.items():
            path = tmp_path / name / f"{module.replace('__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        with monkeypatch.context() as patch:  # the true one is kept for the whole process
            patch.setattr(resources, "_PACKAGE", tmp_path / name)
            return resources.code_version.__wrapped__()

    same = version("here")
    assert same == version("there")
    assert same == version("wheel", bundled__bots__first="x = 2\n")
    assert same != version("changed", one="x = 2\n")
    assert same != version("more", sub__three="")
    assert same != version("moved", one="", two="x = 1\n")
    assert resources.code_version().startswith(f"{__version__} (")
