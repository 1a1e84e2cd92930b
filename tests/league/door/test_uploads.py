"""How long the door keeps an upload that does not go on: by its own clock, which nobody sets."""

from __future__ import annotations

import os
from pathlib import Path

from arena.league.door.limits import UPLOAD_S
from arena.league.door.uploads import Announced, Uploads

DIGEST = "ab" * 32


def test_an_upload_goes_a_day_after_its_last_part_whatever_the_time_of_day_was(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path, room=lambda folder: True)
    begun = Announced("fox", DIGEST, 2)
    for author in ("anna", "ben"):
        uploads.begin(author, begun, 0)
    os.utime(tmp_path / "anna" / f"{DIGEST}.part", (0, 0))  # as after a jump of the clock
    uploads.expire(1_000.0)
    uploads.add("ben", begun, 0, b"x")
    uploads.expire(1_000.0 + UPLOAD_S)
    assert len(list(tmp_path.glob("*/*"))) == 2
    uploads.expire(1_001.0 + UPLOAD_S)
    assert [path.read_bytes() for path in tmp_path.glob("*/*")] == [b"x"]
    uploads.expire(1_001.0 + 2 * UPLOAD_S)
    assert list(tmp_path.glob("*/*")) == []
