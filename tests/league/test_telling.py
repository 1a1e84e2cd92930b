"""What the operator is told of: `[notify]`."""

from __future__ import annotations

import json
from pathlib import Path

from arena.league.folder import Folder
from arena.league.keeping.telling import Telling, told
from arena.league.settings import Notify
from arena.league.store.states import Actor, State
from tests import league_kit as kit


def test_each_version_that_is_suspended_or_rejected_is_told_once_whatever_is_killed(tmp_path: Path) -> None:
    path, said = tmp_path / "told", list[str]()
    with kit.league(tmp_path, "anna", "bert") as store:

        def heard(*of: str) -> list[tuple[str, str, str]]:
            """What is told of what is new, by a service that begins anew."""
            path.unlink(missing_ok=True)
            notify = Notify(command=f"(cat; echo) >>{path}", **({"of": of} if of else {}))  # type: ignore[arg-type]
            Telling(store, Folder(tmp_path), notify, said.append).finish()
            lines = path.read_text().splitlines() if path.exists() else []
            return [(one["event"], one["id"], one["result"]["reason"]) for one in map(json.loads, lines)]

        old = kit.active(store, "fox")
        store.versions.change(old.id, State.SUSPENDED, Actor.SERVICE, "before anybody listened")
        assert heard() == []
        wolf = kit.active(store, "wolf", author="bert")
        before = told(store)
        store.versions.change(wolf.id, State.SUSPENDED, Actor.OPERATOR, "it fills the disk")
        owl = kit.submit(store, "owl", author="bert")
        store.versions.change(owl.id, State.BUILDING, Actor.SERVICE, "its turn")
        store.versions.change(owl.id, State.REJECTED, Actor.SERVICE, "no rule")
        both = [("suspended", "wolf/1", "it fills the disk"), ("rejected", "owl/1", "no rule")]
        assert heard() == both
        assert heard() == []
        store.set_control("told", {"change": before.change, "season": before.season})  # killed before it was noted
        assert heard("rejected") == both[1:]
    assert said == []
