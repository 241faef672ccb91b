"""Object stores by address: Arrow's file system, and what delta-rs is told.

Credentials and endpoints come from the environment only, under the names that the makers' own
tools use; both libraries read them there.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache

from pyarrow import fs

from heraldry.errors import WarehouseError

SCHEMES = ("s3", "gs", "abfss")
_AZURE_ACCOUNT = "AZURE_STORAGE_ACCOUNT_NAME"


def check_address(address: str) -> str:
    """An address as it is kept; WarehouseError for one that names no bucket, or a secret."""
    scheme, _, rest = address.partition("://")
    if scheme not in SCHEMES:
        told = ", ".join(f"{one}://" for one in SCHEMES)
        raise WarehouseError(address, "is no place that tables can be kept in", f"a path, {told}")
    bucket, _, path = rest.partition("/")
    if not bucket or any(mark in rest for mark in "%?#"):
        example = "abfss://container@account.dfs.core.windows.net/path"
        advice = example if scheme == "abfss" else f"{scheme}://bucket/path"
        raise WarehouseError(address, "is not a bucket and a path without %, ? and #", advice)
    if ":" in bucket or ("@" in bucket and scheme != "abfss"):
        reason = "has a port or a secret in it, which belong in the environment"
        raise WarehouseError(f"{scheme}://…", reason, "AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID")
    parts = [part for part in path.split("/") if part]
    return "/".join((f"{scheme}://{bucket}", *parts))


def filesystem(address: str) -> tuple[fs.FileSystem, str]:
    """Arrow's file system for an address, and the path in it."""
    scheme, _, rest = address.partition("://")
    if scheme == "s3":
        attempts = os.environ.get("AWS_MAX_ATTEMPTS", "")
        return _s3(_endpoint(address), _region(), int(attempts) if attempts else 8), rest
    if scheme == "gs":
        return _gcs(), rest
    container, _, path = rest.partition("/")
    name, _, host = container.partition("@")
    return _azure(host.partition(".")[0]), "/".join(filter(None, (name, path)))


def delta_options(address: str) -> Mapping[str, str]:
    """What delta-rs is told besides the environment: a commit must not replace another."""
    if not address.startswith("s3://"):
        return {}
    options = {"aws_conditional_put": "etag", "aws_region": _region()}
    endpoint = _endpoint(address)
    return options | ({"aws_endpoint": endpoint} if endpoint else {})


def _region() -> str:
    return os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"


def _endpoint(address: str) -> str:
    """The endpoint of a store that is not Amazon's own; empty for theirs."""
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    allowed = os.environ.get("AWS_ALLOW_HTTP", "").lower() in ("true", "1")
    if endpoint.startswith("http://") and not allowed:
        reason = "the endpoint in AWS_ENDPOINT_URL is not encrypted"
        raise WarehouseError(address, reason, "use https, or set AWS_ALLOW_HTTP=true")
    return endpoint.rstrip("/")


@lru_cache(maxsize=8)
def _s3(endpoint: str, region: str, attempts: int) -> fs.FileSystem:
    scheme, _, host = endpoint.rpartition("://")
    return fs.S3FileSystem(
        region=region,
        endpoint_override=host or None,
        scheme=scheme or "https",
        connect_timeout=10,
        request_timeout=60,
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=attempts),
    )


@lru_cache(maxsize=1)
def _gcs() -> fs.FileSystem:
    return fs.GcsFileSystem()


@lru_cache(maxsize=8)
def _azure(account: str) -> fs.FileSystem:
    name = account or os.environ.get(_AZURE_ACCOUNT, "")
    return fs.AzureFileSystem(name, account_key=os.environ.get("AZURE_STORAGE_ACCOUNT_KEY"))
