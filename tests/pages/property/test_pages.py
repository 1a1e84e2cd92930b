"""What pages encode is decoded to the same, whatever it is."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from arena.core.show.drawing import Scene
from arena.pages.frames import _changes as changes
from arena.pages.frames import folded
from arena.pages.security import json_in_script

EYES = ("all", "0", "1")
KEYS = st.sampled_from(["a", "b", "c", "#0.hand", "#.deck", "__proto__"])
LEAVES = st.text() | st.integers(-(2**53), 2**53) | st.none()
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)
SCENES = st.lists(st.fixed_dictionaries({eye: st.dictionaries(KEYS, st.integers(0, 3)) for eye in EYES}), max_size=6)


@given(SCENES)
def test_changes_fold_to_the_scenes_they_were_made_from(scenes: list[dict[str, Scene]]) -> None:
    last: tuple[Scene, dict[str, Scene]] = ({}, {eye: {} for eye in EYES})
    frames = []
    for moment in scenes:
        frame, last = changes(last, moment)
        frames.append(msgspec.json.decode(msgspec.json.encode(frame)))
    found = folded({"eyes": EYES, "frames": frames})
    assert [{eye: found[eye][at] for eye in EYES} for at in range(len(scenes))] == scenes


@given(VALUES)
def test_json_in_a_script_means_the_same(value: object) -> None:
    written = json_in_script(value)
    assert msgspec.json.decode(written) == value
    assert not set(written) & set("<>&\u2028\u2029")
