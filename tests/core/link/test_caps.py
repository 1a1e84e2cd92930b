"""Caps: who runs the games says the most that a manifest may ask for, and a refusal says who and where."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.core.errors import BotError, ConfigError
from arena.core.link.bots import load_bot
from arena.core.link.caps import Caps, set_caps

LARGEST = {"memory_mib": 2**20, "file_mib": 2**20, "start_ms": 600_000}


@pytest.fixture(autouse=True)
def caps(monkeypatch: pytest.MonkeyPatch) -> None:
    """None are set, and those of a test end with it."""
    monkeypatch.setenv("ARENA_CAPS", "{}")


def bot(folder: Path, **limits: int) -> str:
    lines = [f"{key} = {value}\n" for key, value in limits.items()]
    (folder / "bot.toml").write_text('name = "fox"\ncommand = ["{python}", "bot.py"]\n[limits]\n' + "".join(lines))
    (folder / "bot.py").write_text("")
    return str(folder)


@pytest.mark.parametrize("key", Caps.__struct_fields__)
def test_a_manifest_may_ask_for_its_cap_and_not_for_more(tmp_path: Path, key: str) -> None:
    cap = getattr(Caps(), key)
    assert getattr(load_bot(bot(tmp_path, **{key: cap})), key) == cap
    with pytest.raises(BotError) as raised:
        load_bot(bot(tmp_path, **{key: LARGEST[key]}))
    assert str(raised.value) == (
        f"{tmp_path}/bot.toml: limits.{key}: expected at most {cap}, arena's own cap, got: {LARGEST[key]}; "
        f"ask for less, or have whoever runs the games write `{key} = {LARGEST[key]}` below [caps] in arena.toml"
    )


@pytest.mark.parametrize("key", Caps.__struct_fields__)
def test_a_file_raises_and_lowers_each_cap_and_is_named(tmp_path: Path, key: str) -> None:
    set_caps({key: LARGEST[key]}, "arena.toml")
    assert getattr(load_bot(bot(tmp_path, **{key: LARGEST[key]})), key) == LARGEST[key]
    set_caps({key: 100}, "cup.toml")
    with pytest.raises(BotError, match=f"limits.{key}: expected at most 100, the cap of cup.toml, got: 101"):
        load_bot(bot(tmp_path, **{key: 101}))


def test_a_bot_that_asks_for_nothing_has_the_usual_or_the_cap_if_that_is_less(tmp_path: Path) -> None:
    set_caps({"memory_mib": 512, "start_ms": 60_000}, "arena.toml")
    for ref in (bot(tmp_path), "cmd:true"):
        spec = load_bot(ref)
        assert (spec.memory_mib, spec.file_mib, spec.start_ms) == (512, 16, 10_000)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"memory": 3}, "^cup: caps: object contains unknown field memory; correct it$"),
        ({"memory_mib": 1}, "^cup: caps.memory_mib: expected int >= 16; correct it$"),
        ({"start_ms": True}, "^cup: caps.start_ms: expected int, got bool; correct it$"),
        ({"file_mib": 10**30}, "^cup: caps.file_mib: "),
    ],
)
def test_what_is_wrong_with_caps_is_said(table: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        set_caps(table, "cup")
