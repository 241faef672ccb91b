"""What can be set, in one table: by flag, then ``HERALDRY_*``, then a TOML file.

The commands make their options from this table and the reference page is written from it, so a
setting has one name, one default and one explanation everywhere.
"""

from __future__ import annotations

import click

from heraldry.cli.setting import CATALOG, SECONDS, FiniteRange, Setting

CONFIG_FILE = "heraldry.toml"
"""Read from the working directory when no other file is named."""

SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="format",
        short="-o",
        env="HERALDRY_FORMAT",
        default="text",
        type=click.Choice(["text", "json"]),
        help="Text for people, or JSON: one object per input, one array for a listing.",
    ),
    Setting(
        name="catalog",
        env="HERALDRY_CATALOG",
        type=CATALOG,
        metavar="PATH|URL",
        multiple=True,
        help="A catalog document, a folder of them or a registry's URL; repeatable: merged.",
    ),
    Setting(
        name="catalog-cache",
        env="HERALDRY_CATALOG_CACHE",
        type=click.Path(file_okay=False),
        metavar="DIR",
        help="Where copies of fetched catalogs are kept. [default: heraldry in the user's cache]",
    ),
    Setting(
        name="allow",
        env="HERALDRY_ALLOW",
        metavar="URL",
        multiple=True,
        help="Fetch base messages kept elsewhere, at addresses that begin so; repeatable.",
    ),
    Setting(
        name="strict",
        env="HERALDRY_STRICT",
        default=False,
        is_flag=True,
        help="Warnings too make the exit code 1.",
    ),
    Setting(
        name="from",
        env="HERALDRY_FROM",
        metavar="SOURCE",
        help="Where the messages are: files:DIR, kafka://HOST:PORT/TOPIC, mqtt://HOST:PORT/FILTER,"
        " amqp://HOST:PORT/ADDRESS, nats://HOST:PORT/SUBJECT, nats+jetstream://HOST:PORT/STREAM,"
        " raw-log:DIR, or endpoint:XID.",
    ),
    Setting(
        name="to",
        env="HERALDRY_WAREHOUSE",
        metavar="WAREHOUSE",
        help="The folder of the tables; it is made when it is not there.",
    ),
    Setting(
        name="warehouse",
        env="HERALDRY_WAREHOUSE",
        metavar="WAREHOUSE",
        help="The folder that `heraldry land` wrote its tables to.",
    ),
    Setting(
        name="checkpoint",
        env="HERALDRY_CHECKPOINT",
        metavar="DIR",
        help="Where progress is kept: a folder, or s3://... [default: WAREHOUSE/_checkpoint]",
    ),
    Setting(
        name="database",
        env="HERALDRY_DATABASE",
        metavar="NAME",
        help='First part of the table names. [default: the endpoint of --from, else "default"]',
    ),
    Setting(
        name="master",
        env="HERALDRY_MASTER",
        metavar="URL",
        help="The Spark master. [default: the submitted one, else local[*]]",
    ),
    Setting(
        name="max-per-batch",
        env="HERALDRY_MAX_PER_BATCH",
        type=click.IntRange(min=1),
        metavar="N",
        help="About so many messages in one batch; files are taken whole.",
    ),
    Setting(
        name="keep-payload",
        env="HERALDRY_KEEP_PAYLOAD",
        default=False,
        is_flag=True,
        help="Also land the payload as it came, in the column _payload.",
    ),
    Setting(
        name="interval",
        env="HERALDRY_INTERVAL",
        default=1.0,
        type=FiniteRange(0.05, SECONDS),
        metavar="SECONDS",
        help="With --stream: how long to wait between looks at the source.",
    ),
    Setting(
        name="source-option",
        env="HERALDRY_SOURCE_OPTION",
        metavar="NAME=VALUE",
        multiple=True,
        help="What the source's URL has no place for; repeatable.",
    ),
    Setting(
        name="raw-log",
        env="HERALDRY_RAW_LOG",
        metavar="DIR",
        help="Where messages that cannot be read again are kept first. [default: in the checkpoint,"
        " if that is a folder]",
    ),
    Setting(
        name="dedupe",
        env="HERALDRY_DEDUPE",
        default="auto",
        type=click.Choice(["auto", "on", "off"]),
        help="Leave out messages that came before, by identity; auto: where a source may repeat.",
    ),
    Setting(
        name="dedupe-window",
        env="HERALDRY_DEDUPE_WINDOW",
        default=10_000_000,
        type=click.IntRange(min=1),
        metavar="N",
        help="How many identities are remembered.",
    ),
    Setting(
        name="with-base",
        env="HERALDRY_WITH_BASE",
        default=False,
        is_flag=True,
        help="Land the variants of a message in the table of their common base message.",
    ),
    Setting(
        name="partition-by",
        env="HERALDRY_PARTITION_BY",
        metavar="day|hour|COLUMN",
        multiple=True,
        help="Partition new tables: by the day or hour of the event, or a column; repeatable.",
    ),
    Setting(
        name="cluster-by",
        env="HERALDRY_CLUSTER_BY",
        metavar="COLUMN",
        multiple=True,
        help="Keep rows sorted by a column, in tables that have it; repeatable.",
    ),
    Setting(
        name="mask",
        env="HERALDRY_MASK",
        metavar="RULE",
        multiple=True,
        help="Mask fields of dead letters: /data/customer/email, or a name like *password*.",
    ),
    Setting(
        name="breaker",
        env="HERALDRY_BREAKER",
        default="0.5",
        metavar="SHARE|off",
        help="Stop before a batch is committed that has more dead letters than this share.",
    ),
    Setting(
        name="catalog-grace",
        env="HERALDRY_CATALOG_GRACE",
        default=600.0,
        type=FiniteRange(0, SECONDS),
        metavar="SECONDS",
        help="How long to go on with the last catalog while the registry is away.",
    ),
    Setting(
        name="remote",
        env="HERALDRY_REMOTE",
        metavar="URL",
        help="A Spark Connect server, sc://host:port, instead of a master.",
    ),
    Setting(
        name="metrics-port",
        env="HERALDRY_METRICS_PORT",
        type=click.IntRange(0, 65535),
        metavar="PORT",
        help="Serve /metrics for Prometheus at this port while the job runs.",
    ),
    Setting(
        name="metrics-host",
        env="HERALDRY_METRICS_HOST",
        metavar="ADDRESS",
        help="Where --metrics-port listens: 127.0.0.1, or 0.0.0.0 for other machines, too.",
    ),
    Setting(
        name="log-format",
        env="HERALDRY_LOG_FORMAT",
        default="text",
        type=click.Choice(["text", "json"]),
        help="Progress for people, or one JSON object per line on standard error.",
    ),
    Setting(
        name="lineage",
        env="HERALDRY_LINEAGE",
        metavar="FILE|URL",
        help="Write OpenLineage events to a file, or post them to a collector.",
    ),
    Setting(
        name="endpoint",
        env="HERALDRY_ENDPOINT",
        metavar="XID",
        help="The endpoint: /endpoints/ID, or its bare id.",
    ),
    Setting(
        name="address",
        env="HERALDRY_ADDRESS",
        metavar="URL",
        help="Where the server is, instead of the endpoint's own address.",
    ),
    Setting(
        name="server",
        short="-s",
        env="HERALDRY_SERVER",
        also="XR_SERVER",
        default="http://127.0.0.1:8080",
        metavar="URL",
        help="The registry to talk to.",
    ),
    Setting(
        name="db",
        env="HERALDRY_DB",
        default="sqlite:heraldry.db",
        metavar="DATABASE",
        help="Where the registry is kept: sqlite:FILE or postgresql://...; made when new.",
    ),
    Setting(
        name="host",
        env="HERALDRY_HOST",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="The address to listen at; 0.0.0.0 is all of them.",
    ),
    Setting(
        name="port",
        env="HERALDRY_PORT",
        default=8080,
        type=click.IntRange(0, 65535),
        metavar="PORT",
        help="The port to listen at; 0 takes a free one.",
    ),
    Setting(
        name="registry-id",
        env="HERALDRY_REGISTRY_ID",
        metavar="ID",
        help='The id of a new registry. [default: "heraldry"]',
    ),
    Setting(
        name="model",
        env="HERALDRY_MODEL",
        metavar="messaging|none|FILE",
        help='The model of a new registry; FILE is JSON or YAML. [default: "messaging"]',
    ),
    Setting(
        name="specversion",
        env="HERALDRY_SPECVERSION",
        default="1.0-rc2",
        type=click.Choice(["1.0-rc2", "1.0-rc4"]),
        help="The version that is spoken where a request asks for none.",
    ),
    Setting(
        name="base-url",
        env="HERALDRY_BASE_URL",
        metavar="URL",
        help="The address that clients see. [default: as each request has it]",
    ),
    Setting(
        name="allow-include",
        env="HERALDRY_ALLOW_INCLUDE",
        metavar="URL",
        multiple=True,
        help="Let models include and proxyurl read what is at addresses that begin so; repeatable.",
    ),
    Setting(
        name="allow-origin",
        env="HERALDRY_ALLOW_ORIGIN",
        metavar="ORIGIN",
        multiple=True,
        help="Let web pages of this origin, as https://HOST, read and write; * is any; repeatable.",
    ),
    Setting(
        name="allow-host",
        env="HERALDRY_ALLOW_HOST",
        metavar="HOST",
        multiple=True,
        help="Let requests name this host besides this machine's own; * is any; repeatable."
        " [default: names are checked only if the server listens on loopback]",
    ),
    Setting(
        name="access-log",
        env="HERALDRY_ACCESS_LOG",
        metavar="FILE",
        help="Write a line for each request to a file, or to standard error where none is named.",
    ),
    Setting(
        name="server-limit",
        env="HERALDRY_SERVER_LIMIT",
        metavar="NAME=NUMBER",
        multiple=True,
        help="Change a limit, e.g. body=1000000; the guide on serving lists them; repeatable.",
    ),
    Setting(
        name="import",
        env="HERALDRY_IMPORT",
        type=click.Path(exists=True),
        metavar="PATH",
        multiple=True,
        help="Add a catalog document or a folder of them at the start; repeatable.",
    ),
)

PROCESS: tuple[Setting, ...] = (
    Setting(
        name="config",
        env="HERALDRY_CONFIG",
        type=click.Path(exists=True, dir_okay=False),
        metavar="FILE",
        help=f"Settings in TOML, one table per command. [default: {CONFIG_FILE}, if there is one]",
    ),
    Setting(
        name="debug",
        env="HERALDRY_DEBUG",
        default=False,
        is_flag=True,
        help="Show the traceback of an error.",
    ),
)
"""Settings of the command line itself, given before the command."""
