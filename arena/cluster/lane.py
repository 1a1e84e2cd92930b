"""A lane on a cluster: an executor that plays games in a player on one Dask worker, in order.

Laws:
1. All tasks of a lane are pinned to its worker and carry its token. Dask runs them there once or never.
2. It is decided once what comes of a game: what was delivered, or that the lane is lost. What comes later is dropped,
   and none of its files is written.
3. A lane that is lost stays so. Its games go to a new lane by the hand of whoever submitted them.
4. Nobody who submits a game waits: a thread of the lane starts the player, brings the bots, and sends the games.
5. A worker that cannot start a player or a bot, or has no time for the game, loses its lane before the game begins,
   and proves nothing about it. Only a bot that no worker can start fails its games.
6. A worker whose machine fails in a game loses its lane, too: another may have what it lacks. That counts against the
   game like a worker that was killed in it, since the game may be the reason.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import suppress
from queue import SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec.structs import replace

from arena.cluster import far
from arena.cluster.calls import called, kind
from arena.cluster.delivery import take
from arena.cluster.orders import Answer, Attend, Build, Done, Ended, Failed, Lacking, Need, Order, Play, decode_answer
from arena.cluster.orders import encode as encoded
from arena.cluster.parcels import PIECE, Parcels
from arena.errors import ArenaError, BotError, InternalError
from arena.referee.job import Job
from arena.referee.worker import attend, play

if TYPE_CHECKING:
    from distributed import Client
    from distributed import Future as Task

OPEN_S: Final = 20.0
"""How long a worker may take to start a player."""
PIECE_S: Final = 30.0
"""How long a piece of an archive may take to a worker."""
LEASE_S: Final = 30.0
"""A lane with a game is lost when its worker was not heard of for so long."""
MOST_BOTS: Final = 64
"""Of so many bots a player knows where they are. It asks anew when there are more."""

_FETCH_S: Final = 60.0
"""How long an answer that is there may take to come: longer than a lease, since it has the lane's logs."""
_OF_ANOTHER_ARENA: Final = frozenset(
    ("ModuleNotFoundError", "ImportError", "AttributeError", "TypeError", "DecodeError", "ValidationError")
)
"""Errors at opening a lane that waiting does not help against: the worker has no arena, or another."""
_LOOK_S: Final = 0.5
"""How often who waits for an answer looks whether the lane is lost."""


class Refusal(msgspec.Struct, frozen=True):
    """Why a worker cannot play."""

    why: str
    """For people."""
    may_later: bool = False
    """Whether its machine lacks something that it may have later."""
    bot: str = ""
    """The digest of the bot that it cannot start, if that is why."""
    in_game: bool = False
    """Whether its machine failed while it played: then the game may be the reason."""


class WorkerLost(BrokenExecutor):
    """A lane's worker or player is gone."""


class _Refused(Exception):
    """The worker cannot play."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.why)
        self.refusal = refusal


class _Over(Exception):
    """The lane is lost."""


class ClusterLane(Executor):
    """Plays games on one worker. `submit` takes `play` and `attend` of the referee's worker, and nothing else."""

    def __init__(self, client: Client, address: str, name: str, topic: str, parcels: Parcels | None) -> None:
        """Begins to start a player.

        Args:
            client: Connected to the scheduler.
            address: The worker's address.
            name: What people call the worker.
            topic: Where the worker says that it lives.
            parcels: What brings bots there; None if the worker is on this machine, and finds them where they are.
        """
        self.address = address
        self.name = name
        self.lease_s: float = LEASE_S
        self.token: Final = secrets.token_hex(16)
        self.was_killed = False
        """Whether the player, or its worker, was ended from outside. It is known when the lane is lost."""
        self.why_lost = ""
        """Why the lane is lost, for people; empty if it is not, or was just shut down."""
        self.refusal: Refusal | None = None
        """Why the worker cannot play, if that is why the lane is lost."""
        self._client = client
        self._topic = topic
        self._parcels = parcels
        self._lock = Lock()
        self._games: dict[Future[Any], Task[Any] | None] = {}
        """What was submitted and has not come, in order; with its task if it was sent."""
        self._lost: WorkerLost | None = None
        self._heard = self._kept = time.monotonic()
        self._is_begun = False
        """Whether the worker said that it does what it is to do next. Its threads may be busy with tasks of others."""
        self._asked: Future[Any] | None = None
        """What comes when a worker that has not begun is there all the same."""
        self._calls = False
        """Whether the worker is being called: that has a limit of its own."""
        self._keeping: Task[Any] | None = None
        self._brought: set[str] = set()
        """The digests of bots that the player has found."""
        self._to_send: SimpleQueue[tuple[Future[Any], Job | None, Order] | None] = SimpleQueue()
        self._ended: SimpleQueue[tuple[Future[Any], Job | None, Task[Any]] | None] = SimpleQueue()
        """Tasks whose answers can be fetched."""
        for work in (self._send_all, self._fetch):
            Thread(target=work, daemon=True).start()

    @property
    def refused(self) -> bool:
        """Whether the lane is lost because the worker could not begin a game."""
        return self.refusal is not None and not self.refusal.in_game

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Has a game played, or bots seen to.

        Raises:
            WorkerLost: The lane is lost.
        """
        order: Order
        if fn is play:
            (job,) = args
            is_here = self._parcels is None
            order = Play(job if is_here else replace(job, ahead=()), is_here)
        elif fn is attend:
            job, order = None, Attend()
        else:
            raise TypeError(f"expected play or attend, got: {fn!r}")
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        with self._lock:
            if self._lost is not None:
                raise self._lost
            if not self._games:
                self._note_answer()
            self._games[future] = None
            self._to_send.put((future, job, order))
        return future

    # The thread that sends

    def _send_all(self) -> None:
        try:
            self._open()
            if self._lost is not None:
                called(self._client, self.address, far.close_lane, self.token)
            while (work := self._to_send.get()) is not None:
                future, job, order = work
                if job is not None and self._parcels is not None:
                    hopeless = "; ".join(filter(None, map(self._parcels.hopeless, job.bots)))
                    if hopeless:
                        self._fail(future, hopeless)
                        continue
                    self._bring(self._parcels, job)
                self._send(future, job, order)
        except _Refused as error:
            self.lose(f"worker {self.name} is left out: {error}", refusal=error.refusal)
        except _Over:
            pass
        except Exception as error:  # whatever Dask raises
            self.lose(f"worker {self.name} cannot be reached: {error!r:.300}")

    def _open(self) -> None:
        """Starts the player.

        Raises:
            _Refused: The worker cannot.
        """
        from arena import resources

        here = resources.code_version()
        try:
            answer = self._heeded(OPEN_S, far.open_lane, self.token, self.lease_s / 2)
            there = msgspec.msgpack.decode(answer, type=far.Opened)
        except Exception as error:  # whatever Dask or the worker raises
            why = f"expected it to start a player, got: {error!r:.500}"
            if kind(error) in _OF_ANOTHER_ARENA:
                raise _Refused(Refusal(f"{why}; install arena {here} there")) from error
            raise _Refused(Refusal(why, may_later=True)) from error
        if there.version != here:
            raise _Refused(Refusal(f"expected arena {here}, got: {there.version}; install the same"))

    def _bring(self, parcels: Parcels, job: Job) -> None:
        """Sees to it that the player has the bots of a game.

        Raises:
            _Refused: It cannot start one.
        """
        digests = {bot.digest for bot in job.bots}
        if digests <= self._brought:
            return
        anew = len(self._brought | digests) > MOST_BOTS
        wants = {bot.digest: parcels.want(bot) for bot in job.bots}
        answer = self._ask(Need(tuple(wants.values()), job.level, anew))
        if not isinstance(answer, Lacking):
            raise InternalError(f"expected bots that are lacking, got: {answer!r:.200}")
        for digest in dict.fromkeys(answer.digests):
            self._carry(parcels, wants[digest].parcel)
            self._ask(Build(wants[digest], job.level))
        self._brought = digests if anew else self._brought | digests

    def _carry(self, parcels: Parcels, parcel: str) -> None:
        for number, piece in enumerate(parcels.pieces(parcel)):
            self._heeded(PIECE_S, far.bring, self.token, parcel, number * PIECE, piece)

    def _ask(self, order: Order) -> Answer:
        """Has the player do something before the next game, and waits for it.

        Raises:
            _Refused: It cannot.
            _Over: The lane is lost.
        """
        task = self._task(order)
        came: SimpleQueue[None] = SimpleQueue()
        task.add_done_callback(lambda task: came.put(None))
        while came.empty():
            with self._lock:
                if self._lost is not None:
                    task.release()
                    raise _Over
            with suppress(Exception):
                came.get(timeout=_LOOK_S)
                break
        answer: Answer = decode_answer(task.result(timeout=_FETCH_S))
        self._note_answer()
        if isinstance(answer, Failed):
            raise _Refused(Refusal(answer.reason, answer.of_machine, answer.bot))
        if isinstance(answer, Ended):
            self._end(answer)
            raise _Over
        return answer

    def _fail(self, future: Future[Any], why: str) -> None:
        with self._lock:
            if self._games.pop(future, self) is not self:
                future.set_exception(BotError(why))

    def _send(self, future: Future[Any], job: Job | None, order: Order) -> None:
        with self._lock:
            if self._lost is not None:
                raise _Over
            task = self._games[future] = self._task(order)
        task.add_done_callback(lambda task: self._ended.put((future, job, task)))

    def _task(self, order: Order) -> Task[Any]:
        return self._pinned(far.order, self.token, self._topic, encoded(order))

    def _pinned(self, function: Callable[..., Any], *args: object) -> Task[Any]:
        return self._client.submit(
            function, *args, pure=False, retries=0, workers=[self.address], allow_other_workers=False
        )

    # The thread that fetches

    def _fetch(self) -> None:
        """Takes what the worker answered, until the lane is lost.

        It is a thread of the lane's own: an answer is fetched from the worker. Who fetches from one that has just
        stopped waits for it, and Dask has one thread for the callbacks of all lanes.
        """
        while (ended := self._ended.get()) is not None:
            self._came(*ended)

    def _came(self, future: Future[Any], job: Job | None, task: Task[Any]) -> None:
        try:
            answer = decode_answer(task.result(timeout=_FETCH_S))
        except Exception as error:
            self.lose(f"the cluster dropped what worker {self.name} did: {error!r:.300}")
            return
        if isinstance(answer, Ended):
            self._end(answer)
            return
        if isinstance(answer, Failed) and answer.of_machine:
            why = f"the machine of worker {self.name} failed in a game: {answer.reason}"
            self.lose(why, refusal=Refusal(answer.reason, may_later=True, in_game=True))
            return
        with self._lock:
            self._note_answer()
            if self._games.pop(future, None) is None:
                return  # the lane was lost before
            try:
                result = _result(answer, job, self.name)
            except Exception as error:
                future.set_exception(error)
            else:
                future.set_result(result)

    def _end(self, answer: Ended) -> None:
        self.lose(f"the player on worker {self.name} ended: {answer.how}", killed=answer.killed)

    def _note_answer(self) -> None:
        self._heard = time.monotonic()
        self._is_begun = False
        self._asked = None

    # What the cluster sees

    def hear(self) -> None:
        """Notes that the worker does what it was told."""
        self._heard = time.monotonic()
        self._is_begun = True

    def look(self, now: float) -> bool:
        """Gives the lane up if it has a game and was not heard of for a lease: then returns True. Keeps an idle one."""
        if not self._games and self._lost is None and now > self._kept + self.lease_s / 6:
            self._kept = now
            self._keeping = self._pinned(far.keep_lane, self.token)  # Dask forgets a task that nobody holds
        if not self._games or self._calls:
            return False
        if not self._is_begun and self._asked is None and now - self._heard > self.lease_s / 2:
            self._asked = called(self._client, self.address, far.clock)
        if now - self._heard > self.lease_s:
            self._give_up_silent()
            return True
        return False

    def _give_up_silent(self) -> None:
        silent = f"was not heard of for {self.lease_s:.0f} s"
        asked = self._asked
        if self._is_begun or asked is None or not asked.done() or asked.exception() is not None:
            self.lose(f"worker {self.name} {silent}")
        else:
            why = "expected it to begin a game, got: it is busy with tasks of others"
            self.lose(f"worker {self.name} is left out: {why}", refusal=Refusal(why, may_later=True))

    def bury(self) -> None:
        """Gives the lane up because the worker is gone."""
        self.lose(f"worker {self.name} is gone")

    def lose(self, why: str, *, killed: bool = True, refusal: Refusal | None = None) -> None:
        """Gives the lane up: all that was submitted and has not come fails.

        Args:
            why: The reason, for people.
            killed: Whether somebody from outside is to blame, and no game.
            refusal: Why the worker cannot play, if that is the reason.
        """
        with self._lock:
            if self._lost is None:
                self._lost = WorkerLost(why)
                self.why_lost = why
                self.was_killed = killed
                self.refusal = refusal
            games, self._games = self._games, {}
        self._ended.put(None)
        self._to_send.put(None)
        for future, task in games.items():
            if task is not None:
                with suppress(Exception):  # the connection may just end
                    task.release()
            future.set_exception(self._lost)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends the player. A game that is played is dropped."""
        if self._lost is not None:  # the worker is gone, or will end the player when it sees that nobody waits
            if self.refusal is not None:
                called(self._client, self.address, far.close_lane, self.token)
            return
        self.lose("it was shut down")
        self.why_lost = ""
        with suppress(Exception):
            self._call(far.END_S + 1 if wait else 0, far.close_lane, self.token)

    def _heeded(self, seconds: float, function: Callable[..., Any], *args: object) -> Any:
        """Calls a function in the worker, which proves that it lives. Errors are those of `_call`."""
        self._calls = True
        try:
            answer = self._call(seconds, function, *args)
            self._heard = time.monotonic()
            return answer
        finally:
            self._calls = False

    def _call(self, seconds: float, function: Callable[..., Any], *args: object) -> Any:
        """Calls a function in the worker at once, beside its tasks.

        Raises:
            TimeoutError: It did not answer in time. The call may still reach it.
            Exception: Whatever the function or Dask raises.
        """
        return called(self._client, self.address, function, *args).result(timeout=seconds)


def _result(answer: Answer, job: Job | None, worker: str) -> object:
    """Returns what a future is to give.

    Raises:
        ArenaError: The game could not be played.
        OSError: What came cannot be written.
    """
    if isinstance(answer, Failed):
        raise ArenaError(f"{answer.reason} (on worker {worker})")
    return take(job, answer.delivery) if isinstance(answer, Done) and job is not None and answer.delivery else None
