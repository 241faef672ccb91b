"""An S3 server with one empty bucket, by moto."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pyarrow import fs

from tests.live.servers.server import Server, free_port, running

BUCKET = "lake"


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Server(Server):
    """``environment`` is what a process must have to reach the server."""

    environment: Mapping[str, str]


@contextmanager
def start(folder: Path) -> Iterator[S3Server]:
    """A new server; this process can reach it while it runs."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    environment = {
        "AWS_ACCESS_KEY_ID": "tester",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": address,
        "AWS_ALLOW_HTTP": "true",
    }
    before = {name: os.environ.get(name) for name in environment}
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with running(command, port, folder / "moto.log"):
        os.environ.update(environment)
        try:
            host = f"127.0.0.1:{port}"
            fs.S3FileSystem(
                endpoint_override=host, scheme="http", allow_bucket_creation=True
            ).create_dir(BUCKET)
            yield S3Server(host="127.0.0.1", port=port, address=address, environment=environment)
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name)
                else:
                    os.environ[name] = value
