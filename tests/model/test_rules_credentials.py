"""No endpoint tells how to log in: secrets are found, and never shown."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.dialects.xreg_1_0 import read
from heraldry.model.rules import check

SECRET = "hunter2"


def found(**members: Any) -> list[str]:
    document = {"endpoints": {"e": {"usage": ["producer"], **members}}}
    findings = check(read(document, "f"))
    assert SECRET not in repr(findings)
    return [
        f.location.removeprefix("/endpoints/e")
        for f in findings
        if f.rule == "endpoint-credential" and f.severity == "error"
    ]


def options(protocol: str = "KAFKA", **members: Any) -> dict[str, Any]:
    return {"protocol": protocol, "protocoloptions": members}


LEAKS: dict[str, tuple[dict[str, Any], str]] = {
    "password in an address": (
        options("AMQP/1.0", endpoints=[{"uri": f"amqp://me:{SECRET}@example.com"}]),
        "/protocoloptions/endpoints/0/uri",
    ),
    "user in an address": (
        options("MQTT/5.0", endpoints=[{"url": f"mqtt://{SECRET}@example.com"}]),
        "/protocoloptions/endpoints/0/url",
    ),
    "wrong scheme besides": (
        options("HTTP", endpoints=[{"url": f"ftp://me:{SECRET}@example.com"}]),
        "/protocoloptions/endpoints/0/url",
    ),
    "address beside the options": (
        {"protocol": "NATS", "endpoints": [{"uri": f"nats://{SECRET}@example.com:4222"}]},
        "/endpoints/0/uri",
    ),
    "bootstrap server": (
        options(endpoints=[{"bootstrap.servers": [f"me:{SECRET}@a:9092"]}]),
        "/protocoloptions/endpoints/0/bootstrap.servers/0",
    ),
    "signature in an address": (
        options("HTTP", endpoints=[{"url": f"https://example.com/q?x=1&sig={SECRET}"}]),
        "/protocoloptions/endpoints/0/url",
    ),
    "sasl.password": (
        options(endpoints=[{"bootstrap.servers": ["a:9092"], "sasl.password": SECRET}]),
        "/protocoloptions/endpoints/0/sasl.password",
    ),
    "sasl.username": (
        options(endpoints=[{"bootstrap.servers": ["a:9092"], "sasl.username": SECRET}]),
        "/protocoloptions/endpoints/0/sasl.username",
    ),
    "client secret": (
        options("HTTP", authorization=[{"type": "OAuth2", "client_secret": SECRET}]),
        "/protocoloptions/authorization/0/client_secret",
    ),
    "api key": (options("HTTP", **{"api-key": SECRET}), "/protocoloptions/api-key"),
    "token": ({"accessToken": SECRET}, "/accessToken"),
    "header": (
        options("HTTP", headers=[{"name": "Authorization", "value": f"Bearer {SECRET}"}]),
        "/protocoloptions/headers/0/value",
    ),
    "query": (options("HTTP", query={"api_key": SECRET}), "/protocoloptions/query/api_key"),
    "link property": (
        options("AMQP/1.0", **{"link-properties": {"pwd": SECRET}}),
        "/protocoloptions/link-properties/pwd",
    ),
    "connection string": (
        {"remark": f"Endpoint=sb://a/;SharedAccessKeyName=root;SharedAccessKey={SECRET}="},
        "/remark",
    ),
    "private key": ({"pem": f"-----BEGIN RSA PRIVATE KEY-----\n{SECRET}"}, "/pem"),
    "number": ({"password": 12345}, "/password"),
}


@pytest.mark.parametrize(
    ("members", "location"), [pytest.param(*case, id=name) for name, case in LEAKS.items()]
)
def test_a_secret_is_found_and_not_shown(members: dict[str, Any], location: str) -> None:
    assert found(**members) == [location]


HARMLESS: dict[str, dict[str, Any]] = {
    "placeholder": options(**{"sasl.password": "{password}"}),
    "placeholder in a header": options(
        "HTTP", headers=[{"name": "Authorization", "value": "Bearer {token}"}]
    ),
    "where a key goes": options("HTTP", apikeyname="x-api-key", apikeyin="header"),
    "names of fields": options(
        "HTTP", plainusernamefield="user", plainpasswordfield="password", plainscheme="form"
    ),
    "how to authorize": options("HTTP", authorization=[{"type": "APIKey"}]),
    "record key": options(key="{id}", keyserializer="StringSerializer"),
    "an at sign in a path": options("HTTP", endpoints=[{"url": "https://example.com/@me"}]),
    "mail": {"owner": "mailto:ops@example.com"},
    "prose": {"description": "ask for the password=... of the day"},
    "switch": {"password": False},
    "empty": {"token": ""},
}


@pytest.mark.parametrize("members", [pytest.param(m, id=name) for name, m in HARMLESS.items()])
def test_what_is_no_secret_is_not_reported(members: dict[str, Any]) -> None:
    assert found(**members) == []
