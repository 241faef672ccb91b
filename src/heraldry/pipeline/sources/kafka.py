"""Topics of Kafka by Spark's own connector: ``kafka://host:port/topic``.

Spark keeps the offsets in the checkpoint; the broker's groups are not used for that. What the
options of an endpoint do:

- ``topic``: what is read, several with commas; a placeholder without a value stands for anything.
- ``partition``: the only one to read.
- ``autooffsetreset``: where a new job begins; ``earliest`` unless given.
- ``consumergroup``: what the names of the reader's groups begin with.

Source options: ``starting`` (``earliest``, ``latest``, or offsets as JSON), ``partitions`` (at
least so many parts of a batch), ``group`` (the very name of the group, where the broker allows no
other), ``on_loss=continue`` (records that are gone before they were read do not stop the job),
and ``kafka.NAME`` for any other setting of the client. Records of transactions that were aborted
are not read, unless ``kafka.isolation.level`` says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pyspark

from heraldry.errors import TemplateError, UsageError
from heraldry.messages.template import Template
from heraldry.messages.transports.address import addresses
from heraldry.messages.transports.kafka_security import PORTS, server
from heraldry.messages.transports.options import text, whole
from heraldry.messages.transports.transport import Connection
from heraldry.model.endpoint import Endpoint
from heraldry.pipeline.settings import LandSettings
from heraldry.pipeline.sources.kafka_access import client_options, reach
from heraldry.pipeline.sources.kafka_lines import COLUMNS, KafkaLines
from heraldry.pipeline.sources.opening_options import DETAILS, goes_on, refuse_strange, whole_option
from heraldry.pipeline.sources.query_lag import query_lag
from heraldry.pipeline.sources.source import Guarantee, Lag, ReaderFactory, Tell, unheard

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CONNECTOR = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{pyspark.__version__}"
"""Spark's connector; it must have the version of Spark."""

_KNOWN = frozenset(("starting", "partitions", "group", "on_loss", *DETAILS))
_CLIENT = "kafka."
_SECRET = re.compile(r"jaas|password|token|secret|keystore|[.]key$")
_HIDDEN = "(?i)url|jaas|keystore"
_LEGAL = re.compile(r"[A-Za-z0-9._-]*").fullmatch
_PER_BATCH = 1_000_000
_LAST_PARTITION = 2**31 - 1


class KafkaSource:
    """The topics of one endpoint."""

    database: str | None = None
    packages: tuple[str, ...] = (CONNECTOR,)
    guarantee = Guarantee(
        replayable=True,
        repeats=False,
        ordered="within a partition",
        identity="topic, partition and offset",
    )

    def __init__(self, endpoint: Endpoint, settings: LandSettings) -> None:
        given = dict(settings.source_options)
        refuse_strange(given, _KNOWN, prefix=_CLIENT)
        connection = Connection(endpoint=_detailed(endpoint, given), usage="consumer")
        self._connection, self._remote = connection, settings.remote is not None
        self._options = {
            f"{_CLIENT}isolation.level": "read_committed",
            **{_CLIENT + name: one for name, one in client_options(connection).items()},
            **_asked(connection),
            **_reading(connection, given, settings.max_per_batch),
            **dict(_passed_on(given)),
        }
        self._server = f"kafka://{server(addresses(connection, PORTS)[0])}"
        self._spark: SparkSession | None = None
        self.name = f"{self._server}/{','.join(_topics(connection))}"

    def open(self, tell: Tell = unheard) -> AbstractContextManager[None]:
        """The connector holds its own connections; that there is a broker is seen first.

        A driver elsewhere may reach one that cannot be reached from here.
        """
        if not self._remote:
            reach(self._connection, self._options["kafka.bootstrap.servers"])
        return nullcontext()

    def read(self, spark: SparkSession) -> DataFrame:
        """The stream of records; Spark hides passwords where it shows a plan, and now keys too."""
        self._spark = spark
        spark.conf.set("spark.sql.redaction.options.regex", _HIDDEN)
        return spark.readStream.format("kafka").options(**self._options).load().select(*COLUMNS)

    def reader(self) -> ReaderFactory:
        """Records as lines."""
        return partial(KafkaLines, self._server)

    def lag(self, end: Any) -> Lag:
        """What the broker had beyond the batch, as it was planned."""
        return query_lag(self._spark, end, _behind)


def _detailed(endpoint: Endpoint, given: Mapping[str, str]) -> Endpoint:
    """The endpoint with what is said of its servers here; it counts more than what a catalog says.

    A scheme such as ``sasl_ssl://`` says less than either.
    """
    own = {name: given[name] for name in DETAILS if name in given}
    known = endpoint.details or tuple({} for _ in endpoint.addresses)
    return replace(endpoint, details=tuple({**one, **own} for one in known))


def _asked(connection: Connection) -> dict[str, str]:
    """What is subscribed to: topics by name, by a pattern, or one partition of them."""
    xid, names = connection.endpoint.xid, _topics(connection)
    patterns = [_pattern(name) for name in names]
    if any(pattern is None for pattern in patterns):
        advice = "use letters, digits, '.', '_' and '-'"
        raise UsageError(f"{xid}: Kafka does not allow the topic {','.join(names)!r}", advice)
    partition = whole(connection, "partition", 0, _LAST_PARTITION)
    if any("{" in name for name in names):
        if partition is not None:
            told = f"{xid}: a partition can be read only of a topic that is named in full"
            raise UsageError(told, "give its placeholders values: --source-option NAME=VALUE")
        return {"subscribePattern": "|".join(str(pattern) for pattern in patterns)}
    if partition is not None:
        return {"assign": json.dumps({name: [partition] for name in names})}
    return {"subscribe": ",".join(names)}


def _topics(connection: Connection) -> list[str]:
    """The topics by name, as the endpoint or the path of its address has them."""
    topics = text(connection, "topic") or addresses(connection, PORTS)[0].path
    if not topics:
        raise UsageError(f"{connection.endpoint.xid} names no topic", "add the option topic")
    return [topic.strip() for topic in topics.split(",")]


def _pattern(topic: str) -> str | None:
    """A topic as a pattern of Java; None where Kafka does not allow it."""
    try:
        literals = Template.parse(topic).literals
    except TemplateError:
        return None
    if not topic or not all(map(_LEGAL, literals)):
        return None
    return ".+".join(literal.replace(".", "[.]") for literal in literals)


def _reading(connection: Connection, given: Mapping[str, str], limit: int | None) -> dict[str, str]:
    """Where to begin, how much at once, and under which name."""
    group = text(connection, "consumergroup") or "heraldry"
    found = {
        "includeHeaders": "true",
        "maxOffsetsPerTrigger": str(limit or _PER_BATCH),
        "startingOffsets": _starting(connection, given.get("starting")),
        "failOnDataLoss": "false" if goes_on(given) else "true",
        "groupIdPrefix": group,
    }
    if (parts := whole_option(given, "partitions", 1, 100_000)) is not None:
        found["minPartitions"] = str(parts)
    if "group" in given:
        del found["groupIdPrefix"]
        found["kafka.group.id"] = given["group"]
    return found


def _starting(connection: Connection, given: str | None) -> str:
    own = connection.endpoint.options.get("autooffsetreset")
    found = given or own or "earliest"
    if found in ("earliest", "latest"):
        return str(found)
    with suppress(ValueError, TypeError):
        if isinstance(json.loads(found), dict):
            return str(found)
    told = f"a job cannot start at {found!r}"
    raise UsageError(told, 'write starting=earliest, latest, or {"TOPIC":{"0":15}} as JSON')


def _passed_on(given: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Settings of the client, for whoever knows them; never a secret, never the servers."""
    for name, value in given.items():
        if not name.startswith(_CLIENT):
            continue
        if _SECRET.search(name) or name == "kafka.bootstrap.servers":
            told = f"{name} is not read from an option"
            raise UsageError(told, "servers stand in the URL, credentials in the environment")
        yield name, value


def _behind(read: Mapping[str, Mapping[str, int]], latest: Mapping[str, Mapping[str, int]]) -> int:
    """The offsets between what was read and what there was."""
    return sum(
        max(0, end - read.get(topic, {}).get(partition, end))
        for topic, partitions in latest.items()
        for partition, end in partitions.items()
    )
