"""Trains the dictionary that logs are compressed with, and measures what it gains.

    python benchmarks/log_dictionary.py --write LOGS...   writes arena/core/record/log.zdict: only for a new format
    python benchmarks/log_dictionary.py LOGS...           measures

LOGS are folders of logs, such as those of `arena tournament`. Every second log is for training, the others for
measuring. The dictionary that is there must stay as it is, as long as there is a log that was compressed with it.
"""

from __future__ import annotations

import argparse
import gzip
import statistics
import time
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path

import zstandard

from arena.core.record import compressed
from arena.core.record.log import parse_log

SIZE = 64 * 1024
"""Bytes of the dictionary. With 32 KiB a log of four players has 5.7 KB instead of 4.7."""
LOGS, HEADERS = 40, 60
"""How many logs of each game and number of players are for training, some several times, and how many headers alone:
a header holds the whole board, and is a large part of what a log has in common with others."""
NUMBER = 0x41524E31
"""Its number in the frames: `ARN1`, outside of the ranges that zstd reserves."""


def samples(logs: Sequence[bytes]) -> list[bytes]:
    """Returns what is trained on: of each game and number of players as much."""
    kinds: dict[tuple[str, int], list[bytes]] = {}
    for log in logs:
        header = parse_log(log, "a log").header
        kinds.setdefault((header.settings.rules, header.settings.players), []).append(log)
    found = []
    for alike in kinds.values():
        found += islice(cycle(alike), LOGS)
        found += (log.split(b"\n")[0] for log in islice(cycle(alike), HEADERS))
    return found


def main() -> None:
    """Measures, or trains and measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="LOGS")
    parser.add_argument("--write", action="store_true", help="train, and replace the dictionary")
    arguments = parser.parse_args()
    logs = [path.read_bytes() for folder in arguments.folders for path in sorted(folder.rglob("*.jsonl"))]
    if arguments.write:
        trained = zstandard.train_dictionary(SIZE, samples(logs[::2]), dict_id=NUMBER, level=compressed.LEVEL)
        compressed.DICTIONARY.write_bytes(trained.as_bytes())
    measured = logs[1::2]
    print(f"{len(measured)} logs of {statistics.fmean(map(len, measured)):,.0f} bytes")
    for name, packed in (
        ("gzip", gzip.compress),
        ("zstd 3", zstandard.ZstdCompressor(level=3).compress),
        ("zstd 9", zstandard.ZstdCompressor(level=9).compress),
        ("zstd 9, dictionary", compressed.compress),
    ):
        start = time.process_time()
        sizes = [len(packed(log)) for log in measured]
        each = (time.process_time() - start) / len(measured)
        print(f"{name:20} {statistics.fmean(sizes):8,.0f} bytes, {each * 1000:.1f} ms")


if __name__ == "__main__":
    main()
