"""The OpenAPI description as a page: made here, without scripts, and nothing is loaded for it."""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from heraldry.server.incoming import Header
from heraldry.server.openapi_names import METHODS

_STYLE: Final = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "code,pre{font:13px ui-monospace,monospace}pre{overflow:auto;background:#8881;padding:.6rem}"
    "summary{cursor:pointer;padding:.2rem 0}b{display:inline-block;width:4.5rem}"
    "td,th{text-align:left;padding:.1rem 1rem .1rem 0;vertical-align:top}"
)
_HASH: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
OPENAPI_HTML: Final[list[Header]] = [
    (b"content-type", b"text/html; charset=utf-8"),
    (b"x-content-type-options", b"nosniff"),
    (
        b"content-security-policy",
        f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none';"
        " frame-ancestors 'none'".encode(),
    ),
]
Described = dict[str, Any]


def openapi_page(described: Described, source: str) -> bytes:
    """The page of a description, which is itself at the address ``source``."""
    return "\n".join(_lines(described, source)).encode("utf-8", "replace")


def _lines(described: Described, source: str) -> Iterator[str]:
    info = described["info"]
    title = _text(info["title"])
    yield f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
    yield f"<style>{_STYLE}</style></head><body><h1>{title}</h1>"
    yield f"<p>{_text(info['description'])} Version {_text(info['version'])}, at"
    yield f" <code>{_text(described['servers'][0]['url'])}</code>. For programs:"
    yield f' <a href="{_text(source)}">OpenAPI</a>.</p>'
    for tag in described["tags"]:
        yield f"<h2>{_text(tag['name'])}</h2><p>{_text(tag['description'])}</p>"
        for path, operations in described["paths"].items():
            for method in METHODS:
                operation = operations.get(method)
                if operation is not None and tag["name"] in operation["tags"]:
                    shared = operations.get("parameters", [])
                    yield from _operation(described, method, path, shared, operation)
    yield "<h2>Schemas</h2>"
    for name, schema in described["components"]["schemas"].items():
        yield f'<details id="{_text(name)}"><summary><code>{_text(name)}</code></summary>'
        yield f"{_json(schema)}</details>"
    yield "</body></html>\n"


def _operation(
    described: Described, method: str, path: str, shared: list[Described], operation: Described
) -> Iterator[str]:
    id_ = operation["operationId"]
    yield f'<details id="{_text(id_)}"><summary><b>{method.upper()}</b><code>{_text(path)}</code>'
    yield f" {_text(operation['summary'])}</summary><p><code>{_text(id_)}</code></p>"
    parameters = [
        _resolved(described, parameter) for parameter in (*shared, *operation.get("parameters", ()))
    ]
    if parameters:
        yield "<table><tr><th>parameter</th><th>in</th><th></th></tr>"
        for parameter in parameters:
            yield (
                f"<tr><td><code>{_text(parameter['name'])}</code></td>"
                f"<td>{_text(parameter['in'])}</td>"
            )
            yield f"<td>{_text(parameter.get('description', ''))}</td></tr>"
        yield "</table>"
    for media_type, content in operation.get("requestBody", {}).get("content", {}).items():
        yield f"<p>Body: <code>{_text(media_type)}</code></p>{_json(content.get('schema'))}"
    for status, reply in operation["responses"].items():
        whole = _resolved(described, reply)
        types = ", ".join(whole.get("content", {}))
        yield f"<p>{_text(status)}: {_text(whole['description'])} <code>{_text(types)}</code></p>"
    yield "</details>"


def _resolved(described: Described, value: Described) -> Described:
    target: Any = described
    if "$ref" not in value:
        return value
    for step in value["$ref"].removeprefix("#/").split("/"):
        target = target[step]
    return dict(target)


def _json(schema: Any) -> str:
    if not schema:
        return ""
    text = msgspec.json.format(msgspec.json.encode(schema), indent=2).decode()
    return f"<pre>{_text(text)}</pre>"


def _text(value: Any) -> str:
    return html.escape(str(value))
