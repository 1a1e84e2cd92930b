"""Uses CPU time before it answers with the first legal play: 60 % of each decision's limit, of its own thread.

The argument says how it behaves meanwhile. The first is honest, the next two lose by their own sloth, and the others
starve themselves, which an honest bot has no reason to do:

honest          nothing else
late            sleep through the deadline instead
dozing          the same, in sleeps of a millisecond
children        while eight children spin
threads         while eight threads of its own compete for the interpreter
nice            at the lowest priority
idle            as a process of the class that runs when nobody else wants to
pinned          on one core, on which three children spin
brief           while children spin for 15 ms, are waited for, and replaced
unburied        the same, but nobody waits for them
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import msgpack
import zmq

SHARE = 0.6
CONDUCTS = {}


def conduct(function):
    CONDUCTS[function.__name__] = function
    return function


def burn(seconds: float) -> None:
    """Uses so much CPU time of this thread."""
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def spin(seconds: float = 3600.0) -> None:
    """Is busy for so long, or until its parent has ended."""
    parent, until = os.getppid(), time.monotonic() + seconds
    while time.monotonic() < until and os.getppid() == parent:
        pass
    os._exit(0)


def spinners(count: int, seconds: float = 3600.0) -> None:
    for _ in range(count):
        if os.fork() == 0:
            spin(seconds)


@conduct
def honest(limit: float) -> None:
    burn(SHARE * limit)


@conduct
def late(limit: float) -> None:
    time.sleep(3 * limit)


@conduct
def dozing(limit: float) -> None:
    until = time.monotonic() + 3 * limit
    while time.monotonic() < until:
        time.sleep(0.001)


@conduct
def children(limit: float) -> None:
    if "children" in CONDUCTS:
        del CONDUCTS["children"]
        spinners(8)
    burn(SHARE * limit)


@conduct
def threads(limit: float) -> None:
    if "threads" in CONDUCTS:
        del CONDUCTS["threads"]
        for _ in range(8):
            threading.Thread(target=burn, args=[3600], daemon=True).start()
    burn(SHARE * limit)


@conduct
def nice(limit: float) -> None:
    os.nice(19)
    burn(SHARE * limit)


@conduct
def idle(limit: float) -> None:
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    burn(SHARE * limit)


@conduct
def pinned(limit: float) -> None:
    if "pinned" in CONDUCTS:
        del CONDUCTS["pinned"]
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        spinners(3)
    burn(SHARE * limit)


@conduct
def brief(limit: float) -> None:
    _replace_children(limit)


@conduct
def unburied(limit: float) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    _replace_children(limit)


def _replace_children(limit: float) -> None:
    until = time.thread_time() + SHARE * limit
    while time.thread_time() < until:
        spinners(8, 0.015)
        burn(0.004)
        for _ in range(8):
            try:
                os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break


def main() -> None:
    behave = CONDUCTS[sys.argv[1]]
    socket = zmq.Context().socket(zmq.DEALER)
    socket.linger = 0
    socket.connect(os.environ["ARENA_ENDPOINT"])

    def send(**message: object) -> None:
        socket.send(msgpack.packb(message))

    send(type="hello", token=os.environ["ARENA_TOKEN"], protocol="1.0", want=["legal"])
    limit = 1.0
    while True:
        message = msgpack.unpackb(socket.recv())
        if message["type"] == "request":
            behave(limit)
            play = {key: first(values) for key, values in message["legal"][0].items()}
            send(type="action", id=message["id"], action={"plays": [play]})
        elif message["type"] == "game_start":
            limit = message["time"]["limit_ms"] / 1000
            send(type="ready", game=message["game"])
        elif message["type"] == "goodbye":
            return


def first(values: list | dict) -> object:
    return values["of"][: values["choose"]] if isinstance(values, dict) else values[0]


main()
