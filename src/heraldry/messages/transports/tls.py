"""TLS for clients that take a context: verified, with the trust root and certificate given."""

from __future__ import annotations

import ssl

from heraldry.errors import TransportError
from heraldry.messages.transports.secrets import Credentials
from heraldry.messages.transports.transport import Connection


def tls_context(connection: Connection, credentials: Credentials) -> ssl.SSLContext:
    """A context that checks the server's name and certificate, and shows our own where asked.

    TransportError where a file is missing or holds no certificate or key.
    """
    file = credentials.ca_file
    try:
        context = ssl.create_default_context(cafile=file)
        if credentials.certificate_file:
            file = credentials.certificate_file
            context.load_cert_chain(file, credentials.key_file)
    except OSError:
        told = f"{file} is not the PEM file of a certificate with its key"
        advice = "set HERALDRY_CA_FILE, HERALDRY_CERTIFICATE_FILE and HERALDRY_KEY_FILE"
        raise TransportError(str(connection.endpoint.xid), told, advice) from None
    return context
