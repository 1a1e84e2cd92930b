"""The course of a block on a cluster: it is sent to workers that can play it, and what comes back is taken."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from arena.cluster import far
from arena.cluster.archives import BotArchives
from arena.cluster.block import Block, BlockOutcome, Failed, GameDone, Lacking, decode_outcome, encode
from arena.cluster.delivery import take
from arena.cluster.workers import NoneAble, Workers
from arena.core.face import GameResult, Job, errors, log_records, processor_cores

if TYPE_CHECKING:
    from distributed import Client

LOOK_S = 1.0
"""Seconds between two looks whether the workers of a block are still there."""


class WorkerLost(BrokenExecutor):
    """The workers that a block was sent to are gone, or a player ended in a game of it."""


class Lane(processor_cores.Remote):
    """Plays one block at a time. Methods with `_` run in the cluster's loop."""

    def __init__(
        self,
        workers: Workers,
        client: Callable[[], Client],
        loop: asyncio.AbstractEventLoop,
        archives: BotArchives | None,
        address: str = "",
    ) -> None:
        """Takes the cluster's workers, connection and loop, what brings bots if they are not on this machine, and the
        address of the worker that it keeps to; empty if any will do.
        """
        self.address = address
        self.name = workers.names.get(address, "")
        self._workers = workers
        self._client = client
        self._loop = loop
        self._archives = archives
        self._lost: BrokenExecutor | None = None
        self._playing: Future[None] | None = None

    def play(self, jobs: Sequence[Job]) -> list[Future[GameResult]]:
        """Has a block played.

        Raises:
            WorkerLost: The lane was lost.
        """
        self._workers.say()
        if self._lost is not None:
            raise self._lost
        games: list[Future[GameResult]] = [Future() for _ in jobs]
        for game in games:
            game.set_running_or_notify_cancel()
        self._playing = asyncio.run_coroutine_threadsafe(self._play(jobs, games), self._loop)
        return games

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Drops the block that is played."""
        if self._playing is not None:
            self._playing.cancel()

    async def _play(self, jobs: Sequence[Job], games: Sequence[Future[GameResult]]) -> None:
        """Plays a block, and gives each game what came of it: a result, its error, or that the lane is lost."""
        results: list[GameResult | Exception] = []
        try:
            jobs = [replace(job, begun=len(log_records.begun(_log(job)))) for job in jobs]
            results = await self._results(jobs, await self._sent(jobs))
        except asyncio.CancelledError:
            self._lose("it was shut down", killed=True)
        except NoneAble as error:
            self.refused = True
            self._lose(str(error))
        except WorkerLost as error:
            self._lose(str(error), killed=True)
        except errors.ArenaError as error:
            results = [error] * len(jobs)
        except Exception as error:  # whatever Dask raises
            self._lose(f"the cluster could not play: {error!r:.300}")
        for place, game in enumerate(games):
            result = results[place] if place < len(results) else self._lost
            if isinstance(result, GameResult):
                game.set_result(result)
            else:
                game.set_exception(result)

    def _lose(self, why: str, *, killed: bool = False) -> None:
        """Notes that the lane plays no more, and whether somebody from outside is to blame, and no game."""
        self._lost = WorkerLost(why)
        self.was_killed = killed

    async def _sent(self, jobs: Sequence[Job]) -> BlockOutcome:
        """Has a block played by workers that can.

        Raises:
            BotError: No worker can start a bot of it, or it cannot be sent.
            WorkerLost: Its workers were lost. It may have been begun.
            NoneAble: No worker can play it now. It was not begun.
        """
        bots = {bot.digest: bot for job in jobs for bot in job.bots}
        block = Block(tuple(jobs))
        brought = self._archives
        if brought is not None:
            wants = [await asyncio.to_thread(brought.want, bot) for bot in bots.values()]
            block = Block(tuple(replace(job, ahead=()) for job in jobs), tuple(wants))
        content, lacking = encode(block), ""
        archives: Mapping[str, bytes] = {}
        while True:
            able = await self._able([*bots])
            outcome = await self._run(jobs, content, archives, [lacking] if lacking in able else able)
            lacking, archives = "", {}
            match outcome.answers:
                case (Lacking(digests),) if brought is not None:
                    lacking = outcome.address
                    sent = [want.archive for want in block.wants if want.bot.digest in digests]
                    archives = {digest: await asyncio.to_thread(brought.data, digest) for digest in sent}
                case (Failed(begun=False) as refusal,):
                    self._workers.refuse(outcome.address, refusal.reason, refusal.bot, rests=refusal.of_machine)
                case _:
                    return outcome

    async def _able(self, bots: Sequence[str]) -> list[str]:
        """Returns the addresses of the workers that can play with bots. Errors are those of `_sent`."""
        if self.address and self.address not in self._workers.names:
            raise NoneAble(f"worker {self.name} is gone")
        try:
            able = self._workers.able(bots)
        except NoneAble:
            await asyncio.sleep(LOOK_S)  # else it would be asked again and again
            raise
        if self.address:  # if it cannot play, all games of the match go to another
            return [self.address] if self.address in able else [min(able)]
        return able

    async def _run(
        self, jobs: Sequence[Job], block: bytes, archives: Mapping[str, bytes], workers: list[str]
    ) -> BlockOutcome:
        """Has Dask play a block on one of these workers.

        Raises:
            WorkerLost: All of them are gone, or as many as Dask allows were lost while they played it.
        """
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        task = self._client().submit(
            far.play_block, block, archives, workers=workers, allow_other_workers=False, pure=False
        )
        waiting = asyncio.ensure_future(task)
        began: Counter[str] = Counter()
        noted: list[asyncio.Task[int]] = []

        def note(folder: str) -> None:
            began[folder] += 1
            noted.append(asyncio.create_task(asyncio.to_thread(log_records.begin, _log(jobs[began[folder] - 1]))))

        self._workers.blocks[str(task.key)] = note
        try:
            while True:
                done, _ = await asyncio.wait({waiting}, timeout=LOOK_S)
                if len(began) > 1:
                    raise WorkerLost("its worker was lost in a game, and another began the block again")
                if done:
                    return decode_outcome(waiting.result())
                if not any(address in self._workers.names for address in workers):
                    raise WorkerLost("the workers that could play it are gone")
        except (KilledWorker, FutureCancelledError, OSError) as error:
            raise WorkerLost(str(error)) from error
        finally:
            del self._workers.blocks[str(task.key)]
            waiting.cancel()
            await asyncio.gather(*noted)
            with suppress(Exception):  # the connection may just end
                task.release()

    async def _results(self, jobs: Sequence[Job], outcome: BlockOutcome) -> list[GameResult | Exception]:
        """Returns what came of the games that were finished. If some were not, the lane is lost."""
        self.played_by = outcome.worker
        results: list[GameResult | Exception] = []
        for job, answer in zip(jobs, outcome.answers, strict=False):
            if isinstance(answer, GameDone):
                try:
                    results.append(await asyncio.to_thread(take, job, answer.delivery))
                except (errors.ArenaError, OSError) as error:
                    results.append(error)
            elif isinstance(answer, Failed) and answer.of_machine:
                why = f"its machine failed in a game: {answer.reason}"
                self._workers.refuse(outcome.address, why, rests=True)
                self._lose(f"worker {outcome.worker} is left out: {why}", killed=True)
                return results
            elif isinstance(answer, Failed):
                results.append(errors.ArenaError(f"{answer.reason} (on worker {outcome.worker})"))
        if len(results) < len(jobs):
            ended = outcome.ended or "it said nothing of a game"
            self._lose(f"the player on worker {outcome.worker} ended: {ended}", killed=outcome.killed)
        return results


def _log(job: Job) -> Path:
    return Path(job.logs) / f"{job.game}{log_records.SUFFIX}"
