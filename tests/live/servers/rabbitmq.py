"""RabbitMQ with AMQP 1.0, all of it in one folder, with an Erlang port mapper of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.live.servers.server import Server, free_port, needed, running

HOW = "apt-get install rabbitmq-server"
_BIN = Path("/usr/lib/rabbitmq/bin")
"""Debian's own scripts in the path insist on the user rabbitmq and its folders."""


@contextmanager
def start(folder: Path) -> Iterator[Server]:
    """A broker without users but guest, which only the loopback interface reaches."""
    program = _BIN / "rabbitmq-server"
    if not program.exists():
        program = Path(needed("rabbitmq-server", HOW))
    epmd = needed("epmd", HOW)
    port, distribution, mapper = free_port(), free_port(), free_port()
    (folder / "enabled_plugins").write_text("[rabbitmq_amqp1_0].\n")
    (folder / "rabbitmq.conf").write_text(
        f"listeners.tcp.1 = 127.0.0.1:{port}\n"
        "amqp1_0.default_user = guest\n"
        "loopback_users.guest = true\n"
        "log.file = false\nlog.console = true\nlog.console.level = warning\n"
        "vm_memory_high_watermark.absolute = 256MB\ndisk_free_limit.absolute = 1MB\n"
    )
    env = {
        "HOME": str(folder),
        "ERL_EPMD_PORT": str(mapper),
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODENAME": f"heraldry{port}@localhost",
        "RABBITMQ_DIST_PORT": str(distribution),
        "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq.conf"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "enabled_plugins"),
        "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_GENERATED_CONFIG_DIR": str(folder / "generated"),
        "RABBITMQ_PID_FILE": str(folder / "pid"),
        # As few schedulers as a test needs.
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 +sbwt none",
    }
    with (
        running([epmd, "-address", "127.0.0.1"], mapper, folder / "epmd.log", env=env),
        running([str(program)], port, folder / "server.log", seconds=90, env=env),
    ):
        yield Server(host="127.0.0.1", port=port, address=f"amqp://127.0.0.1:{port}")
