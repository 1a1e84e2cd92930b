"""A bot is checked as whoever gets its archive has it."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import pytest

from arena.author import sent
from arena.author.archives import pack
from arena.author.archives.rules import within
from arena.author.sent import as_sent
from arena.core.errors import BotError
from arena.core.link.bots import load_bot

MANIFEST = 'name = "fox"\ncommand = ["{python}", "bot.py"]\n'


@pytest.fixture
def fox(tmp_path: Path) -> Path:
    folder = tmp_path / "fox"
    for name, text in {"bot.toml": MANIFEST, "bot.py": "", "models/v3/w": "3", ".env": "secret"}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def names(folder: str) -> set[str]:
    return {str(path.relative_to(folder)) for path in Path(folder).rglob("*") if not path.is_dir()}


def test_what_an_archive_does_not_carry_is_not_there_and_is_listed(fox: Path) -> None:
    (fox / "model").symlink_to("models/v3")
    (fox / "data" / "empty").mkdir(parents=True)
    with as_sent(str(fox)) as (spec, left_out, unpacked):
        assert names(spec.folder) == {".arena-parcel", "bot.toml", "bot.py", "models/v3/w"}
        assert spec.digest == load_bot(str(fox)).digest
        assert left_out == (".env", "data/empty (an empty folder)", "model (a link to a folder)")
        assert unpacked == ""
    assert not Path(spec.folder).exists()


def test_an_empty_folder_that_is_included_is_told(fox: Path) -> None:
    (fox / "data").mkdir()
    (fox / "bot.toml").write_text(MANIFEST + 'include = ["data"]\n')
    with pytest.raises(BotError, match=r"as it is sent, expected .*'data'.*left out: .env, data \(an empty folder\)"):
        as_sent(str(fox)).__enter__()


def test_what_was_built_is_put_beside_and_values_stay(fox: Path) -> None:
    tune = "[tune]\nspite = { value = 1, low = 0, high = 2 }\n"
    (fox / "bot.toml").write_text(f'{MANIFEST}build = ["false"]\nbuilt = ["out", "bin/own"]\n{tune}')
    (fox / "out").mkdir()
    (fox / "out" / "a.class").touch()
    (fox / "bin").mkdir()
    (fox / "bin" / "own").touch()
    (fox / "bin" / "own").chmod(0o755)
    with as_sent(f"kit={fox}@spite=2") as (spec, left_out, _):
        assert (spec.name, spec.own_name) == ("kit", "fox")
        assert {"out/a.class", "bin/own"} <= names(spec.folder)
        assert (Path(spec.folder) / "bin" / "own").stat().st_mode & 0o111
        assert spec.values == (("spite", "2"),)
        assert left_out == (".env",)


def test_a_program_that_an_archive_does_not_carry_is_told_with_what_is_left_out(fox: Path) -> None:
    (fox / "bot.toml").write_text('name = "fox"\ncommand = ["./models/link"]\n')
    (fox / ".bin").write_bytes(Path("/bin/sh").read_bytes())
    (fox / ".bin").chmod(0o755)
    (fox / "models" / "link").symlink_to("../.hidden")
    (fox / "bot.toml").write_text('name = "fox"\ncommand = ["./.bin"]\n')
    with pytest.raises(
        BotError, match=r"^as it is sent, .*fox/bot.toml: expected './.bin'.* got: no such file"
    ) as error:
        as_sent(str(fox)).__enter__()
    assert "left out: .bin, .env" in str(error.value)


def test_what_is_too_large_to_be_sent_is_taken_as_it_is(fox: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sent, "pack", partial(pack, limits=within(1)))
    (fox / "weights").write_bytes(bytes(9 * 2**20))
    with as_sent(str(fox)) as (spec, left_out, unpacked):
        assert (spec, left_out) == (load_bot(str(fox)), ())
        assert "weights" in unpacked
        assert "more than 8 MiB" in unpacked


def test_a_zip_is_built_and_checked_as_its_folder_would_be(fox: Path, tmp_path: Path) -> None:
    (fox / "bot.toml").write_text(f'{MANIFEST}build = ["cp", "bot.py", "out"]\nbuilt = ["out"]\n')
    made = shutil.make_archive(str(tmp_path / "made"), "zip", tmp_path, "fox")
    with as_sent(f"kit={made}") as (spec, left_out, _):
        assert names(spec.folder) == {".arena-parcel", "bot.toml", "bot.py", "models/v3/w", "out"}
        assert left_out == (".env",)
        assert (spec.name, spec.own_name) == ("kit", "fox")
    (fox / "bot.toml").write_text(f'{MANIFEST}build = ["false"]\n')
    made = shutil.make_archive(str(tmp_path / "made"), "zip", tmp_path, "fox")
    with pytest.raises(BotError, match="expected `false` to succeed"):
        as_sent(made).__enter__()


def test_nobody_sends_a_bundled_bot_or_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sent, "pack", pytest.fail)
    for ref in ("random", "cmd:sh"):
        with as_sent(ref) as (spec, _, unpacked):
            assert (spec, unpacked) == (load_bot(ref), "")
