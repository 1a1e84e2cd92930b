"""The figures of a league for monitoring, as Prometheus' own parser reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from arena.core.errors import InternalError
from arena.league.disk import DiskRoom, DiskState
from arena.league.door.health import DoorFiles
from arena.league.folder import Folder
from arena.league.keeping.housekeeping import Tidy
from arena.league.public.monitoring import FILE, METRICS, Figures, Values, text
from arena.league.service.inbox import OrderDuty
from arena.league.settings import Logs, Settings
from tests import league_kit as kit


def test_every_figure_is_written_with_what_is_true_of_the_league(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.make()
    with kit.league(tmp_path, "anna") as store:
        order_duty = OrderDuty(store, folder, Settings(name="cup"), 1, lambda sentence: None)
        doing = {"state": "playing", "running": 2, "machine_faults": 3}
        said: list[str] = []
        disk, tidy = DiskRoom(tmp_path, said.append), Tidy(store, folder, Logs(), said.append)
        disk.room = DiskState(free=10**9, enough=True, needed=10**8, free_files=10**6)
        figures = Figures(store, folder, (2,), lambda: doing, disk, order_duty.obeyed, tidy)
        fox = kit.active(store, "fox")
        kit.play(store, fox, store.versions.named("random"))
        kit.submit(store, "owl")
        (folder.published / "logs").mkdir()
        published = folder.published / "logs" / "cup-1-000000.jsonl.zst"
        published.write_bytes(b"12345")
        (folder.inbox / "bad.json").write_text("no order")
        order_duty.look()
        tidy.look()
        tidy.look()
        door = DoorFiles(folder.path, lambda: 0.0, falls=1)
        door.refused["rate"] += 4
        door.look({}, connections=5, closed={"idle": 2})
        (folder.inbox / "later.json").touch()
        figures.look()
    text = (folder.published / FILE).read_text(encoding="utf-8")
    families = {family.name: family for family in text_string_to_metric_families(text)}
    assert list(families) == [metric.name for metric in METRICS]
    found = [sample for family in families.values() for sample in family.samples]
    samples = {(sample.name, *sample.labels.values()): sample.value for sample in found}
    assert samples["arena_league_playing",] == 1
    assert samples["arena_league_versions", "active"] == 3
    assert samples["arena_league_games_running",] == 2
    assert samples["arena_league_longest_wait_rounds",] == 0.67, "a match of two seats, among three"
    assert samples["arena_league_steps_waiting",] == 1
    assert samples["arena_league_orders_total", "unknown"] == 1
    assert samples["arena_league_orders_waiting",] == 1
    assert samples["arena_league_notices_unread",] == 1
    assert samples["arena_league_machine_faults_total",] == 3
    assert samples["arena_league_logs_bytes",] == max(5, 512 * published.stat().st_blocks)
    assert samples["arena_league_disk_free_bytes",] == 10**9
    assert samples["arena_league_disk_free_files",] == 10**6
    assert samples["arena_door_open",] == 1
    assert samples["arena_door_connections",] == 5
    assert samples["arena_door_refused_total", "rate"] == 4
    assert samples["arena_door_closed_total", "idle"] == 2
    assert samples["arena_door_falls_total",] == 1


def test_of_a_door_that_is_closed_nothing_else_is_said(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.make()
    with kit.league(tmp_path, "anna") as store:
        doing = {"state": "playing", "running": 0, "machine_faults": 0}
        tidy = Tidy(store, folder, Logs(), print)
        values = Figures(store, folder, (2,), lambda: doing, DiskRoom(tmp_path, print), {}, tidy).values()
    assert {name: value for name, value in values.items() if name.startswith("arena_door")} == {"arena_door_open": 0}


PAGE = Path(__file__).parents[2] / "docs" / "league-running.md"

numbers = st.floats(allow_nan=False, allow_infinity=False, width=32)
values = st.fixed_dictionaries(
    {},
    optional={
        metric.name: st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=20), numbers, max_size=4)
        if metric.label
        else numbers
        for metric in METRICS
    },
)


@given(values)
def test_what_is_written_is_read_by_others(given: Values) -> None:
    found = {}
    for family in text_string_to_metric_families(text(given).decode()):
        name = family.name
        kinds = {metric.name: metric.kind for metric in METRICS}
        assert family.type == kinds[name]
        for sample in family.samples:
            assert sample.name == name + ("_total" if family.type == "counter" else "")
            key = tuple(sample.labels.values())
            found[name, *key] = sample.value
    expected = {}
    for name, value in given.items():
        for key, one in [((label,), one) for label, one in value.items()] if isinstance(value, dict) else [((), value)]:
            expected[name, *key] = one
    assert found == expected


def test_a_label_cannot_smuggle_in_another_figure() -> None:
    hostile = {"arena_league_orders": {'submit"} 1\narena_league_playing 0\n#': 1.0}}
    found = [family.name for family in text_string_to_metric_families(text(hostile).decode())]
    assert found == ["arena_league_orders"]


@pytest.mark.parametrize(
    "wrong", [{"arena_league_luck": 1.0}, {"arena_league_versions": 1.0}, {"arena_league_playing": {"x": 1.0}}]
)
def test_what_is_not_in_the_table_is_refused(wrong: Values) -> None:
    with pytest.raises(InternalError):
        text(wrong)


def test_the_page_has_every_figure() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for metric in METRICS:
        name = metric.name + ("_total" if metric.kind == "counter" else "")
        label = f"{{{metric.label}}}" if metric.label else ""
        assert f"| `{name}{label}` | {metric.help} |" in page
