"""Attacks over the network and by sockets."""

from __future__ import annotations

import array
import contextlib
import glob
import os
import socket
from pathlib import Path

from resources import attacking
from seat import Message, Seat, target


def n1(seat: Seat, _: Message) -> None:
    """TCP and UDP to listeners that the stage has opened, raw packets, names."""
    mark = target()["marker"].encode()

    def tcp() -> bool:
        with socket.create_connection(("127.0.0.1", target()["tcp"]), 2) as found:
            found.sendall(mark)
        return True

    def udp() -> bool:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as found:
            found.sendto(mark, ("127.0.0.1", target()["udp"]))
        return True

    def raw(family: int, kind: int, protocol: int = 0) -> bool:
        socket.socket(family, kind, protocol).close()
        return True

    seat.attempt("connect by TCP", tcp)
    seat.attempt("send by UDP", udp)
    seat.attempt("open a TCP socket for IPv6", lambda: raw(socket.AF_INET6, socket.SOCK_STREAM))
    seat.attempt("open a raw socket", lambda: raw(socket.AF_INET, socket.SOCK_RAW, 1))
    seat.attempt("open a packet socket", lambda: raw(socket.AF_PACKET, socket.SOCK_RAW))
    seat.attempt(
        "find a name", lambda: socket.getaddrinfo("localhost", 80, socket.AF_INET, socket.SOCK_STREAM) and None
    )


def n2(seat: Seat, _: Message) -> None:
    """Unix sockets: an abstract one and one with a path of the stage, and those that desktops have."""
    mark = target()["marker"].encode()

    def connect(name: str | bytes) -> bool:
        with socket.socket(socket.AF_UNIX) as found:
            found.settimeout(2)
            found.connect(name)
            found.sendall(mark)
        return True

    seat.attempt("connect to an abstract socket", lambda: connect(b"\0" + target()["abstract"].encode()))
    seat.attempt("connect to a socket by its path", lambda: connect(target()["path"]))
    for path in ("/run/dbus/system_bus_socket", "/var/run/docker.sock", *glob.glob("/run/user/*/bus")[:1]):
        if os.path.exists(path):
            seat.attempt(f"connect to {path}", lambda path=path: connect(path))
    for name in ("SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "GPG_AGENT_INFO"):
        seat.report(f"inherit {name}", name in os.environ)
    names = []
    with contextlib.suppress(PermissionError):
        names = [line.split()[-1] for line in Path("/proc/net/unix").read_text().splitlines()[1:] if "@" in line]
    seat.report("see names of abstract sockets", bool([name for name in names if "arena-hostile" in name]))


def n3(seat: Seat, _: Message) -> None:
    """Families of sockets that lead elsewhere."""
    for name, family, kind in (
        ("vsock", 40, socket.SOCK_STREAM),
        ("netlink", socket.AF_NETLINK, socket.SOCK_RAW),
        ("AF_ALG", 38, socket.SOCK_SEQPACKET),
        ("bluetooth", 31, socket.SOCK_RAW),
        ("xdp", 44, socket.SOCK_RAW),
    ):
        try:
            socket.socket(family, kind).close()
        except OSError as error:
            seat.report(f"open a {name} socket", False, error.strerror)
        else:
            seat.report(f"open a {name} socket", True)


def n4(seat: Seat, _: Message) -> None:
    """Passes 4,000 descriptors to the referee, beside bytes that mean nothing."""
    ping = b"\x04\x17\x04PING\0\0" + bytes(16)
    descriptors = array.array("i", [0] * 200)
    sent = 0
    for _ in range(20):
        try:
            seat.socket.sendmsg([ping], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)])
            sent += 200
        except OSError:
            break
    seat.report("pass descriptors", False, f"{sent} were sent; the stage counts those that arrived")


ATTACKS = {attack.__name__.upper(): attacking(attack) for attack in (n1, n2, n3, n4)}
