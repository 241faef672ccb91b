"""Mosquitto, an MQTT broker: open, with TLS and over WebSockets; and one with a password."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.live.servers.certificate import Certificate, make_certificate
from tests.live.servers.server import Server, free_port, needed, running

USERNAME, PASSWORD = "ada", "correct horse"
LARGEST = 2_000_000
"""The bytes of the largest payload it takes."""
_HOW = "sudo apt-get install -y mosquitto"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mosquitto(Server):
    """The addresses of its other listeners, and of the ``guarded`` broker.

    Topics under ``denied`` may neither be written nor read.
    """

    guarded: str
    tls: str
    websocket: str
    certificate: Certificate


@contextmanager
def start(folder: Path) -> Iterator[Mosquitto]:
    """New brokers, their files under ``folder``."""
    certificate = make_certificate(folder)
    ports = [free_port() for _ in range(4)]
    server = Mosquitto(
        host="127.0.0.1",
        port=ports[0],
        address=f"mqtt://127.0.0.1:{ports[0]}",
        guarded=f"mqtt://127.0.0.1:{ports[1]}",
        tls=f"mqtts://127.0.0.1:{ports[2]}",
        websocket=f"ws://127.0.0.1:{ports[3]}",
        certificate=certificate,
    )
    secrets, rights = folder / "passwords", folder / "rights"
    secrets.write_text("")
    secrets.chmod(0o600)
    passwd = needed("mosquitto_passwd", _HOW)
    subprocess.run([passwd, "-b", str(secrets), USERNAME, PASSWORD], check=True)
    rights.write_text("topic readwrite #\ntopic deny denied/#\n")
    more = f"""
message_size_limit {LARGEST}
max_queued_messages 0
acl_file {rights}
listener {ports[2]} 127.0.0.1
certfile {certificate.file}
keyfile {certificate.key}
listener {ports[3]} 127.0.0.1
protocol websockets
"""
    with (
        broker(folder, ports[0], more),
        broker(folder, ports[1], f"allow_anonymous false\npassword_file {secrets}"),
    ):
        yield server


@contextmanager
def broker(folder: Path, port: int, settings: str = "") -> Iterator[None]:
    """One broker while it runs; what it keeps survives to the next run on the same port."""
    own = folder / f"{port}.conf"
    # Mosquitto gives up root for the user "mosquitto", who may not read the folder.
    user = subprocess.run(["id", "-un"], check=True, capture_output=True, text=True).stdout
    own.write_text(
        f"user {user.strip()}\npersistence true\npersistence_file {folder}/{port}.db\n"
        f"allow_anonymous true\nlistener {port} 127.0.0.1\n{settings}\n"
    )
    with running([needed("mosquitto", _HOW), "-c", str(own)], port, folder / f"{port}.log"):
        yield
