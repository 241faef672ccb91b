"""The baseline of the registry: a Starlette handler that returns the same bytes from memory."""

from __future__ import annotations

import sys
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


def main(port: int, file: Path) -> None:
    """Serve the bytes of a file at every path."""
    content = file.read_bytes()

    async def answer(_: Request) -> Response:
        return Response(content, media_type="application/json")

    app = Starlette(routes=[Route("/{path:path}", answer)])
    uvicorn.run(app, port=port, access_log=False, log_level="error")


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
