"""What the commands that land messages share: their options, and who watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from heraldry.cli.opening import catalogs
from heraldry.cli.settings import option
from heraldry.errors import UsageError

if TYPE_CHECKING:
    from heraldry.cli.progress import Progress
    from heraldry.model.catalog import Catalog
    from heraldry.pipeline.landing.catalog_watch import CatalogWatch
    from heraldry.pipeline.settings import LandSettings
    from heraldry.pipeline.watching.observer import Observer

_OPTIONS = (
    *("checkpoint", "database", "master", "remote", "max-per-batch", "interval"),
    *("source-option", "raw-log", "dedupe", "dedupe-window", "with-base", "partition-by"),
    *("cluster-by", "keep-payload", "mask", "breaker", "catalog-grace"),
    *("metrics-port", "metrics-host", "log-format", "lineage"),
)


def landing_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Every option of a landing job besides its source and warehouse."""
    for name in reversed(_OPTIONS):
        command = option(name)(command)
    return command


@contextmanager
def watch_catalog(
    paths: Sequence[str], allow: tuple[str, ...], grace: float, observers: Sequence[Observer]
) -> Iterator[CatalogWatch]:
    """The catalog of some paths and addresses, looked at again and again."""
    from heraldry.client.catalog_follower import CatalogFollower
    from heraldry.pipeline.landing.catalog_watch import CatalogWatch

    watching = list(observers)

    def tell(text: str) -> None:
        for one in watching:
            one.event(text)

    follower = CatalogFollower(catalogs(), paths, allow)
    try:
        yield CatalogWatch(follower.look, grace, tell=tell)
    finally:
        watching.clear()  # a look that still waits for its answer tells nobody of it
        follower.close()


def landing_settings(given: dict[str, Any], catalog: Catalog) -> LandSettings:
    """The settings of a job from the options of its command."""
    from heraldry.messages.catalog import MessageCatalog
    from heraldry.pipeline.settings import LandSettings

    _refuse_unused(given)
    opened = MessageCatalog(catalog)
    given["only"] = tuple(opened[xid].xid for xid in given.get("only", ()))
    given["breaker"] = _share(given["breaker"])
    # Whether it is needed is known with the source: an endpoint may be of any kind.
    given["raw_log_if_needed"] = not _typed("raw_log")
    # Variables and the file of settings may name columns for other jobs.
    given["optional_columns"] = tuple(
        column
        for name in ("partition_by", "cluster_by")
        if not _typed(name)
        for column in given[name]
    )
    given["warehouse"] = given.pop("to")
    given["source_options"] = source_options(given.pop("source_option"))
    return LandSettings(**given)


def source_options(texts: Sequence[str]) -> dict[str, str]:
    """What ``--source-option`` was given, by name."""
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--source-option {text} has no value", "write NAME=VALUE")
        found[name] = value
    return found


@contextmanager
def observed(given: dict[str, Any]) -> Iterator[tuple[Progress, list[Observer]]]:
    """The observers that the options ask for; takes those options away."""
    from heraldry.cli.progress import Progress
    from heraldry.pipeline.watching.lineage import Lineage
    from heraldry.pipeline.watching.logs import JsonLog
    from heraldry.pipeline.watching.metrics import LOOPBACK, MetricsServer

    port, host, target = (given.pop(name) for name in ("metrics_port", "metrics_host", "lineage"))
    if port is None and _typed("metrics_host"):
        raise UsageError("--metrics-host needs a port", "give --metrics-port, too")
    as_text = given.pop("log_format") == "text"
    with ExitStack() as stack:
        progress = stack.enter_context(Progress(shown=as_text))
        found: list[Observer] = [progress] if as_text else [progress, JsonLog(sys.stderr)]
        told = found[-1].event
        if port is not None:
            metrics = stack.enter_context(MetricsServer(port, host or LOOPBACK))
            found.append(metrics)
            told(f"metrics at {metrics.url}")
        if target is not None:
            found.append(Lineage(target, tell=told))
        yield progress, found


def _refuse_unused(given: Mapping[str, Any]) -> None:
    """UsageError for what was typed and would have no effect.

    Variables and the file of settings may hold it for other jobs.
    """
    if _typed("interval") and not given.get("stream"):
        raise UsageError("--interval is for a job that streams", "add --stream, or leave it out")
    if _typed("dedupe_window") and given["dedupe"] == "off":
        told = "--dedupe-window is for leaving out what came before"
        raise UsageError(told, "leave it out, or --dedupe off (HERALDRY_DEDUPE)")
    if _typed("master") and given["remote"]:
        told = "a job runs by --master or by --remote, not by both"
        raise UsageError(told, "leave out one (HERALDRY_REMOTE is --remote too)")


def _typed(name: str) -> bool:
    found = click.get_current_context().get_parameter_source(name)
    return found is ParameterSource.COMMANDLINE


def _share(text: str) -> float | None:
    if text == "off":
        return None
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise UsageError(f"--breaker {text} is no share", "give a number from 0 to 1, or off")
    return share
