"""A self-signed certificate for 127.0.0.1 and localhost."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.live.servers.server import needed


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """The paths of a certificate, which is its own trust root, and of its key."""

    file: str
    key: str


def make_certificate(folder: Path) -> Certificate:
    """A new certificate in ``folder``."""
    made = Certificate(file=str(folder / "certificate.pem"), key=str(folder / "key.pem"))
    openssl = needed("openssl", "sudo apt-get install -y openssl")
    subprocess.run(
        [
            *(openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"),
            *("-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"),
            *("-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"),
            *("-keyout", made.key, "-out", made.file),
        ],
        check=True,
        capture_output=True,
    )
    return made
