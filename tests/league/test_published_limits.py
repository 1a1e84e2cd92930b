"""An author is shown at the door what the league really lets them submit."""

from __future__ import annotations

from pathlib import Path

import msgspec

from arena.league.door.published import Published
from arena.league.folder import Folder
from arena.league.public.publishing import Publishing
from arena.league.settings import Limits, Settings
from tests import league_kit


def test_the_limits_of_an_author_are_published_with_their_quotas(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.make()
    settings = Settings(name="cup", limits=Limits(submissions=20, bots=5))
    with league_kit.league(tmp_path) as store:
        season = league_kit.season(store)
        store.authors.add("zoe", {"submissions": 50})
        store.authors.add("yan", {})
        Publishing(store, folder, settings, season, lambda sentence: None).publish()
    published = Published(folder.published)
    everybodys = msgspec.structs.asdict(settings.limits)
    assert published.limits("yan") == everybodys
    assert published.limits("zoe") == {**everybodys, "submissions": 50}
