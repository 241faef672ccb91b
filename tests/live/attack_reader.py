"""The independent reader: asks for one small entity over and over, from a process of its own.

`python attack_reader.py HOST PORT TARGET` says `ready`, reads until its input ends, and then writes
one JSON object: the seconds that each answer took, and what went wrong.
"""

from __future__ import annotations

import json
import select
import socket
import sys
import time

EVERY = 0.015
PATIENCE = 20.0


def ask(host: str, port: int, target: str) -> str:
    """One request on a connection of its own; what is wrong with the answer."""
    try:
        with socket.create_connection((host, port), timeout=PATIENCE) as connection:
            head = f"GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
            connection.sendall(head.encode("ascii"))
            answer = b""
            while piece := connection.recv(65536):
                answer += piece
    except OSError as error:
        return repr(error)
    return "" if answer.startswith(b"HTTP/1.1 200 ") else repr(answer[:200])


def main() -> None:
    host, port, target = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    seconds: list[float] = []
    wrong: list[str] = []
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while not select.select([sys.stdin], [], [], EVERY)[0]:
        start = time.monotonic()
        fault = ask(host, port, target)
        seconds.append(time.monotonic() - start)
        if fault:
            wrong.append(fault)
    sys.stdout.write(json.dumps({"seconds": seconds, "wrong": wrong}))


if __name__ == "__main__":
    main()
