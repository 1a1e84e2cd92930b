"""Speaks the protocol for a program that only reads and writes JSON lines, which `jsonlines` defines.

The bridge is the bot: it has the session with the referee, and the program below it knows no ZeroMQ, no msgpack and no
session. One loop around one poll, as in the referee; nothing blocks, so that neither side can wait for the other while
both are full.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Final, get_args

import zmq

from arena.author.jsonlines import MAX_LINE, Translator
from arena.author.program import Program
from arena.core.face import codec, errors, value_types, wire_messages, wire_variables

WANTS: Final = get_args(value_types.Want)
"""Variables that a request may carry."""


def bridge(program: Program, *, name: str, version: str, want: Sequence[str], report: Callable[[str], None]) -> int:
    """Plays with a program, from `hello` to the end of the session.

    Args:
        program: The running program. It is ended in any case.
        name, version: What `hello` says.
        want: What each request carries, of `WANTS`.
        report: Called with sentences for standard error.

    Returns:
        The exit status: the program's, but at least 1 if it ended before the session did, or if the referee
        sent an `error`.

    Raises:
        ConfigError: No referee started this process, or a word of `want` is unknown.
        RemoteProtocolError: The program wrote a line that it must not write, or the connection was lost.
    """
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # so that the program is ended too
    try:
        for word in want:
            if word not in WANTS:
                raise errors.ConfigError(
                    f"expected {', '.join(WANTS)} to want, got: {word!r}{errors.did_you_mean(word, WANTS)}"
                )
        endpoint, token = _environment()
        with zmq.Context() as context, context.socket(zmq.DEALER) as socket:
            socket.linger = 0
            lost = socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
            socket.connect(endpoint)
            socket.send(
                codec.encode(
                    wire_messages.Hello(
                        token=token, protocol=wire_messages.PROTOCOL, name=name, version=version, want=tuple(want)
                    )
                )
            )
            with lost:
                return _play(program, socket, lost, report)
    finally:
        program.kill()


def _environment() -> tuple[str, str]:
    """Returns the endpoint to connect to, and the token for `hello`."""
    try:
        return os.environ[wire_variables.ENDPOINT], os.environ[wire_variables.TOKEN]
    except KeyError as missing:
        raise errors.ConfigError(
            f"expected the variable {missing}, which a referee sets for a bot, got: no such variable; "
            "make the bridge the `command` of a bot.toml, or play with cmd:'arena bot bridge -- COMMAND'"
        ) from None


def _play(program: Program, socket: zmq.Socket[bytes], lost: zmq.Socket[bytes], report: Callable[[str], None]) -> int:
    translator = Translator()
    poller = zmq.Poller()
    for source in (socket, lost, program.output):
        poller.register(source, zmq.POLLIN)
    while True:
        ready = dict(poller.poll())
        if program.output in ready:
            # The program comes first: what it has written already cannot answer a message that is read only now.
            for line in program.lines(MAX_LINE):
                if frame := translator.from_program(line):
                    socket.send(frame)
            if program.closed:
                status, end = program.wait()
                report(f"expected the program to play until its input ends, got: it {end}")
                return status or 1
        if socket in ready:
            heard = translator.from_referee(socket.recv())
            if heard.reply:
                socket.send(heard.reply)
            if heard.is_over:
                if heard.complaint:
                    report(heard.complaint)
                status, end = program.wait()
                if status:
                    report(f"expected the program to end with status 0 when its input ends, got: it {end}")
                return status or bool(heard.complaint)
            if heard.line:
                program.write(heard.line)
        elif lost in ready:
            reason = "expected goodbye from the referee, got: the connection is lost"
            raise errors.RemoteProtocolError("disconnected", reason, "§4.1-2")
        if program.input in ready:
            program.write()
        poller.register(program.input, zmq.POLLOUT if program.owes_input else 0)  # with 0 it is no longer watched
