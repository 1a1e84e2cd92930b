"""Every key of `bot.toml` is a hostile value: it is taken, or refused in a sentence that names it; in a league too.

The keys are those of the manifest's types, so that a new one is tried by itself.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec
import pytest

from arena.core.errors import ArenaError
from arena.core.link import contents
from arena.core.link.bots import Manifest, Parameter, load_bot
from arena.core.link.caps import Caps
from arena.core.text import plain
from arena.core.types import Level
from arena.league.folder import Folder
from arena.league.service.inbox import new_order
from arena.league.service.orders import obey
from arena.league.settings import Bots, Limits, Settings
from arena.league.store import LeagueStore
from tests.archive_kit import label, packed, raw

GOOD: Final = {
    "name": '"fox"',
    "command": '["{python}", "bot.py"]',
    "limits.memory_mib": "64",
    "tune.a.value": "1",
    "tune.a.low": "0",
    "tune.a.high": "2",
}
NESTED: Final = {"limits": ("limits.", Caps), "tune": ("tune.a.", Parameter)}
KEYS: Final = (
    *Manifest.__struct_fields__,
    *(prefix + key for prefix, kind in NESTED.values() for key in kind.__struct_fields__),
    "unknown",
    *(f"{prefix}unknown" for prefix, _ in NESTED.values()),
    '"\\u202e"',
    f'"{"k" * 10_000}"',
    "a" + ".a" * 30_000,
)
"""Each key that there is, and some that there are not."""
SCALARS: Final = (
    *("0", "-1", "1", "99", "600001", "1048577", str(2**63), str(-(2**64)), "9" * 400, "9" * 5_000, "0x" + "f" * 400),
    *("0.5", "-0.0", "1e308", "1e999", "nan", "-nan", "inf", "-inf", "true", "1979-05-27", "07:32:00"),
    *('""', '" "', '"\\u0000"', '"\\u001b[2J\\n"', '"\\u202e\\u2066"', '"\\ud800"', '"é\\U0001F98A"', '"x" # "'),
    *('"/dev/zero"', '"/proc/self/mem"', '"../../../../../etc/shadow"', '"."', '"/"', '"a/../../b"', '"~"', '"-rf"'),
    *('"{python}"', '"tcp"', f'"{"x" * 300}"', f'"{"x" * 60_000}"', f'"{"a/" * 5_000}"'),
)
VALUES: Final = (
    *SCALARS,
    *(f"[{value}]" for value in SCALARS),
    *("[]", "[[]]", "{}", "{ a = 1 }", "{ a = { b = 1 } }", '{ "\\u0000" = 1 }', '["a", 1]'),
    "[" + '"bot.py", ' * 5_000 + "]",
    "[" + "".join(f'"./{"./" * number}bot.py", ' for number in range(200)) + "]",
    "[" * 5_000 + "]" * 5_000,
    "{ a = " * 900 + "1" + " }" * 900,
    "",
    "'''",
    "1\n{key} = 1",
)
LONGEST_S: Final = 10.0  # seconds for one manifest, at most, on a machine that does much else
MOST_WORDS: Final = 2_500  # characters of a refusal, at most


def manifest(key: str, value: str) -> str:
    """A manifest in which one key has a value; the others are good."""
    top = key.partition(".")[0]
    kept = {name: good for name, good in GOOD.items() if name != key and (key != top or not name.startswith(f"{top}."))}
    return "".join(f"{name} = {good}\n" for name, good in {**kept, key: value.replace("{key}", key)}.items())


def hostile(key: str) -> Iterator[str]:
    for value in VALUES:
        yield manifest(key, value)


def check_words(said: str, key: str, text: str) -> None:
    """A refusal is one sentence on a line, of some length at most, that names the key, what it has, or the line."""
    assert len(said) <= MOST_WORDS, said[:200]
    assert "\n" not in plain(said)
    top = key.partition(".")[0].strip('"')[:64]
    named = top in said or re.search(r"line \d+|bot\.toml:\d+|end of document|TOML file", said) is not None
    assert named or quoted(said, text), f"{said} - for {text[:300]}"


def archive(text: str) -> bytes:
    """An archive of a bot with a manifest."""
    return packed(label(), raw("bot.py"), raw("bot.toml", text.encode()))


def quoted(said: str, text: str) -> bool:
    """Whether an error quotes a text of the manifest."""
    return any(word.rstrip("/") in said for word in re.findall(r"""['"]([^'"\n]{1,60})""", text))


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key[:20])
def test_a_manifest_is_taken_or_refused_in_a_sentence(
    tmp_path: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "_MOST_FILES", 1_000)  # "/" has more, and is walked through until then
    (tmp_path / "bot.py").write_text("")
    for text in hostile(key):
        (tmp_path / "bot.toml").write_text(text, encoding="utf-8")
        began = time.monotonic()
        try:
            spec = load_bot(str(tmp_path))
        except ArenaError as error:
            check_words(str(error), key, text)
        else:
            assert {name for name in Caps.__struct_fields__ if getattr(spec, name) > getattr(Caps(), name)} == set()
            assert msgspec.json.decode(msgspec.json.encode(spec), type=type(spec)) == spec
            assert all(len(value) < 100 for value in spec.parameters.values())
        assert time.monotonic() < began + LONGEST_S, text[:300]


SETTINGS: Final = Settings(
    name="cup", limits=Limits(submissions=100_000, pending=100_000, bots=100_000), bots=Bots(level="trusted")
)


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key[:20])
def test_a_submission_is_taken_or_refused_in_a_sentence(store: LeagueStore, folder: Folder, key: str) -> None:
    path = folder.inbox / "it.tar.zst"
    for text in [*hostile(key)][len(key) % 4 :: 4]:
        path.write_bytes(archive(text))
        began = time.monotonic()
        answer = obey(store, folder, SETTINGS, new_order("submit", {"author": "anna"}), path)
        if "code" in answer:
            assert answer["code"] in ("archive", "rules")
            check_words(answer["message"], key, text)
        else:
            (version,) = (one for one in store.versions.of_author("anna") if one.name == answer["version"])
            asked = version.manifest["limits"]
            assert {name for name in asked if asked[name] > getattr(SETTINGS.caps, name)} == set()
        assert time.monotonic() < began + LONGEST_S, text[:300]


@pytest.mark.parametrize("level", Level)
def test_a_league_of_each_level_names_the_cap_that_a_submission_exceeds(
    store: LeagueStore, folder: Folder, level: Level
) -> None:
    path = folder.inbox / "it.tar.zst"
    settings = msgspec.structs.replace(SETTINGS, caps=Caps(start_ms=300), bots=Bots(level=level.value))
    path.write_bytes(archive(manifest("limits.start_ms", "301")))
    answer = obey(store, folder, settings, new_order("submit", {"author": "anna"}), path)
    assert (answer["code"], answer["limit"]) == ("archive", 300)
    assert answer["message"] == "bot.toml: limits.start_ms: expected at most 300, the cap of league.toml, got: 301"
    assert answer["remedy"] == (
        "ask for less, or have whoever runs the games write `start_ms = 301` below [caps] in league.toml"
    )
