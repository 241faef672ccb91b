"""PostgreSQL with one user, who needs a password."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg

from tests.live.servers.server import Server, free_port, needed, running

USERNAME, PASSWORD = "ada", "correct horse"
_HOW = "sudo apt-get install -y postgresql"


@dataclass(frozen=True, slots=True, kw_only=True)
class Postgres(Server):
    """``address`` is that of a database with nothing in it, until somebody opens a store there."""

    folder: Path

    def emptied(self) -> str:
        """The address, after whatever registry was there is gone."""
        with psycopg.connect(self.address) as connection:
            connection.execute("DROP SCHEMA IF EXISTS heraldry CASCADE")
        return self.address


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The files of a server, which may run on them more than once, at the same address."""

    folder: Path
    port: int
    as_user: tuple[str, ...]

    @contextmanager
    def running(self) -> Iterator[Postgres]:
        """The server at work."""
        # Without fsync: what is tested is what survives the end of a process.
        settings = ["-F", "-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200"]
        data, log = self.folder / "data", self.folder / "log"
        command = [_program("postgres"), "-D", str(data), "-p", str(self.port), "-k", "", *settings]
        user = f"{USERNAME}:{quote(PASSWORD, safe='')}"
        address = f"postgresql://{user}@127.0.0.1:{self.port}/postgres"
        # SIGTERM would wait until its clients are gone.
        with running([*self.as_user, *command], self.port, log, endings=(signal.SIGINT,)):
            _wait(address)
            yield Postgres(host="127.0.0.1", port=self.port, address=address, folder=self.folder)


@contextmanager
def start(folder: Path) -> Iterator[Postgres]:
    """A new server, its files under ``folder`` (as root: in a folder of the user postgres)."""
    with cluster(folder) as made, made.running() as server:
        yield server


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """The files of a new server that does not run yet."""
    port = free_port()
    with ExitStack() as stack:
        as_user: list[str] = []
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory("postgres")))
            shutil.chown(folder, "postgres")
            as_user = [needed("setpriv", _HOW), "--reuid=postgres", "--clear-groups"]
        secret = folder / "password"
        secret.write_text(PASSWORD)
        data = str(folder / "data")
        subprocess.run(
            [
                *(*as_user, _program("initdb"), "-D", data, "-U", USERNAME, "-E", "UTF8"),
                *("--locale=C", "--auth=scram-sha-256", f"--pwfile={secret}", "--no-sync"),
            ],
            check=True,
            capture_output=True,
        )
        yield Cluster(folder=folder, port=port, as_user=tuple(as_user))


def _wait(address: str, seconds: float = 30) -> None:
    """Wait until the server is done with what it does after it listens."""
    end = time.monotonic() + seconds
    while True:
        try:
            psycopg.connect(address).close()
        except psycopg.OperationalError:
            assert time.monotonic() < end, "the server listens but lets nobody in"
            time.sleep(0.05)
        else:
            return


def _program(name: str) -> str:
    beside = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(beside[-1]) if beside else needed(name, _HOW)
