"""A bot that misbehaves by a script: `bot.py ok,ok,crash` answers two requests and dies at the third.

One step is played for each request; after the last it keeps to the protocol. Before the first, `hello:STEP` and
`ready:STEP` say what it does instead of greeting and of getting ready. Steps:

ok              answer (the first legal action, or {} without `legal`)
note:TEXT       answer with a note
padded          answer with 60 KB of keys that nobody knows, and those that count last
late:MS         answer after so many milliseconds
crash exit segfault killed      end: status 3, status 0, by SIGSEGV, by SIGKILL
answer_exit     answer, and end with status 0
silent spin     never answer: asleep, or busy
garbage list    send bytes that are no msgpack, or no map
illegal malformed       answer what the rules refuse, or cannot read
illegal_spin    answer what the rules refuse, then be busy for ever
wrong_id twice          answer with another id; answer two times
oversized huge          send 70,000 bytes, or 1 MiB
multipart       send a message of two frames
parts           answer, and send a remark of two frames
disconnect      close the connection and live on
close_exit:MS close_work:MS     close the connection, and end with status 3 after so many milliseconds (of CPU time)
answer_close_exit:MS            answer before that
hold_crash escape_crash         end with status 3, while a child (in a session of its own) holds the connection open
second          greet over a second connection with the same token, then answer over the first
flood           write 64 MiB to standard error, then answer
words           write to standard output and error, control characters too, then answer
memory:MIB      use so much memory, never answer
child           leave a child in the process group, then answer
daemon          leave a child in a session of its own, then answer
deaf            (anywhere in the script) from the start, read hardly anything

When it is sent an `error` it ends with status 7.
As a greeting also: `bad_token`, `bad_version`, `unknown`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import Any, NoReturn

import msgpack
import zmq

ILLEGAL = {
    "hand": {"plays": [{"hand": ["rice4"] * 5}]},
    "setup": {"plays": [{"caste": "rice", "space": 200}]},
    "turn": {"plays": [{"tile": "rice4", "space": 200}]},
}
"""By kind of decision: actions that can be read and are never allowed."""


def main(script: str) -> None:
    steps = script.split(",")
    bot = Bot(deaf="deaf" in steps)
    greeting = [step.removeprefix("hello:") for step in steps if step.startswith("hello:")]
    ready = [step.removeprefix("ready:") for step in steps if step.startswith("ready:")]
    turns = [step for step in steps if ":" not in step or step.split(":")[0] not in ("hello", "ready")]
    bot.do(greeting[0] if greeting else "ok", bot.hello)
    if "deaf" in steps:
        sleep_forever()
    while True:
        message = bot.receive()
        if message["type"] == "game_start":
            bot.do(ready.pop(0) if ready else "ok", {"type": "ready", "game": message["game"]})
        elif message["type"] == "request":
            bot.kind = message["kind"]
            answer = {"type": "action", "id": message["id"], "action": first_legal(message)}
            bot.do(turns.pop(0) if turns else "ok", answer)
        elif message["type"] == "error":
            raise SystemExit(7)
        elif message["type"] == "goodbye":
            return


class Bot:
    """The connection, and the steps."""

    def __init__(self, *, deaf: bool) -> None:
        self.hello = {
            "type": "hello",
            "token": os.environ["ARENA_TOKEN"],
            "protocol": "1.0",
            "name": "faulty",
            "want": ["legal"],
        }
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.DEALER)
        if deaf:
            self.socket.rcvhwm = 1
            self.socket.rcvbuf = 4096
        self.socket.connect(os.environ["ARENA_ENDPOINT"])
        self.kept: list[Any] = []
        self.kind = ""

    def receive(self) -> dict[str, Any]:
        message: dict[str, Any] = msgpack.unpackb(self.socket.recv())
        return message

    def send(self, message: Any) -> None:
        self.socket.send(msgpack.packb(message))

    def do(self, step: str, answer: dict[str, Any]) -> None:
        name, _, argument = step.partition(":")
        getattr(self, f"do_{name}", self.do_ok)(answer, argument)

    def do_ok(self, answer: dict[str, Any], _: str) -> None:
        self.send(answer)

    def do_note(self, answer: dict[str, Any], text: str) -> None:
        self.send(answer | {"note": text})

    def do_padded(self, answer: dict[str, Any], _: str) -> None:
        unknown = {f"unknown{number}": "x" * 1000 for number in range(30)}
        plays = [unknown | dict(reversed(play.items())) for play in answer["action"]["plays"]]
        self.send(answer | {"action": unknown | {"plays": plays}})

    def do_late(self, answer: dict[str, Any], ms: str) -> None:
        time.sleep(int(ms) / 1000)
        self.send(answer)

    def do_crash(self, *_: Any) -> NoReturn:
        os._exit(3)

    def do_exit(self, *_: Any) -> NoReturn:
        os._exit(0)

    def do_segfault(self, *_: Any) -> None:
        os.kill(os.getpid(), signal.SIGSEGV)

    def do_killed(self, *_: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def do_answer_exit(self, answer: dict[str, Any], _: str) -> NoReturn:
        self.send(answer)
        self.socket.close()
        self.context.term()  # all is handed to the system
        os._exit(0)

    def do_silent(self, *_: Any) -> None:
        sleep_forever()

    def do_spin(self, *_: Any) -> NoReturn:
        while True:
            pass

    def do_garbage(self, *_: Any) -> None:
        self.socket.send(b"\xc1 this is no msgpack")

    def do_list(self, *_: Any) -> None:
        self.send([1, 2, 3])

    def do_unknown(self, answer: dict[str, Any], _: str) -> None:
        self.send({"type": "no_such_type"})
        self.send(answer)

    def do_illegal(self, answer: dict[str, Any], _: str) -> None:
        self.send(answer | {"action": ILLEGAL.get(self.kind, {})})

    def do_illegal_spin(self, answer: dict[str, Any], _: str) -> NoReturn:
        self.do_illegal(answer, _)
        self.do_spin()

    def do_malformed(self, answer: dict[str, Any], _: str) -> None:
        self.send(answer | {"action": {"nonsense": True}})

    def do_wrong_id(self, answer: dict[str, Any], _: str) -> None:
        self.send(answer | {"id": answer["id"] + 1000})

    def do_twice(self, answer: dict[str, Any], _: str) -> None:
        self.send(answer)
        self.send(answer)

    def do_oversized(self, answer: dict[str, Any], _: str) -> None:
        self.send(answer | {"note": "x" * 70_000})

    def do_huge(self, answer: dict[str, Any], _: str) -> None:
        self.send(answer | {"note": "x" * 2**20})

    def do_multipart(self, answer: dict[str, Any], _: str) -> None:
        self.socket.send_multipart([msgpack.packb(answer), b"and more"])

    def do_parts(self, answer: dict[str, Any], _: str) -> None:
        self.send(answer)
        self.socket.send_multipart([msgpack.packb({"type": "error", "code": "x_hm"}), b"and more"])

    def do_disconnect(self, *_: Any) -> None:
        self.close()
        sleep_forever()

    def close(self) -> None:
        self.socket.close(0)
        self.context.term()

    def do_close_exit(self, _: Any, ms: str) -> NoReturn:
        self.close()
        time.sleep(int(ms) / 1000)
        os._exit(3)

    def do_answer_close_exit(self, answer: dict[str, Any], ms: str) -> NoReturn:
        self.send(answer)
        self.socket.close()
        self.do_close_exit(answer, ms)

    def do_close_work(self, _: Any, ms: str) -> NoReturn:
        self.close()
        until = time.process_time() + int(ms) / 1000
        while time.process_time() < until:
            pass
        os._exit(3)

    def do_hold_crash(self, *_: Any) -> NoReturn:
        if os.fork():
            os._exit(3)
        sleep_forever()

    def do_escape_crash(self, *_: Any) -> NoReturn:
        if os.fork():
            os._exit(3)
        os.setsid()
        signal.alarm(20)
        sleep_forever()

    def do_second(self, answer: dict[str, Any], _: str) -> None:
        second = self.context.socket(zmq.DEALER)
        second.connect(os.environ["ARENA_ENDPOINT"])
        second.send(msgpack.packb(self.hello))
        refusal = msgpack.unpackb(second.recv()) if second.poll(300) else {"type": "no", "code": "answer"}
        self.send(answer | {"note": f"{refusal['type']} {refusal['code']}"})
        self.kept.append(second)

    def do_flood(self, answer: dict[str, Any], _: str) -> None:
        block = b"spam " * 2**18
        for _ in range(64):
            try:
                os.write(2, block)
            except OSError:
                break
        self.send(answer)

    def do_words(self, answer: dict[str, Any], _: str) -> None:
        os.write(1, b"thinking\n")
        os.write(2, b"\x1b[31mred\x1b[0m \xff \xe2\x80\xae\n")
        self.send(answer)

    def do_memory(self, _: Any, mib: str) -> None:
        self.kept.append(bytearray(int(mib) * 2**20))
        sleep_forever()

    def do_child(self, answer: dict[str, Any], _: str) -> None:
        child = subprocess.Popen(["sleep", "1000"])
        self.send(answer | {"note": str(child.pid)})

    def do_daemon(self, answer: dict[str, Any], _: str) -> None:
        child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
        self.send(answer | {"note": str(child.pid)})

    def do_bad_token(self, answer: dict[str, Any], _: str) -> None:
        self.send(answer | {"token": "00"})

    def do_bad_version(self, answer: dict[str, Any], _: str) -> None:
        self.send(answer | {"protocol": "2.0"})


def first_legal(request: dict[str, Any]) -> dict[str, Any]:
    """The first action that the request calls legal."""
    if not request.get("legal"):
        return {}
    return {"plays": [{key: first(values) for key, values in request["legal"][0].items()}]}


def first(values: Any) -> Any:
    """The first of some values; several where the request says so."""
    return values["of"][: values["choose"]] if isinstance(values, dict) else values[0]


def sleep_forever() -> NoReturn:
    while True:
        signal.pause()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "ok")
