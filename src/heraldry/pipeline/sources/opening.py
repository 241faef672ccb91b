"""Sources by their URL: one table of kinds, each loaded when it is asked for.

| URL | source |
|---|---|
| ``files:DIR`` | the files of a folder |
| ``raw-log:DIR`` | what ``heraldry intake`` has taken in |
| ``kafka://h:p[,h:p]/topic[,topic]`` | topics, by Spark's own connector |
| ``nats+jetstream://h:p/STREAM[?subject=S]``, ``nats://h:p/SUBJECT?stream=NAME`` | a JetStream stream |
| ``mqtt://``, ``mqtts://``, ``amqp://``, ``amqps://``, ``nats://h:p/SUBJECT`` | a broker, by way of a raw log |
| ``endpoint:XID`` | an endpoint of the catalog: any of the above by its protocol |
"""  # noqa: E501

from __future__ import annotations

from dataclasses import replace

from heraldry.errors import UsageError
from heraldry.messages.source_url import SCHEMES, completed_endpoint, endpoint_of_url
from heraldry.messages.transports.options import flag
from heraldry.messages.transports.transport import Connection
from heraldry.model.catalog import Catalog
from heraldry.model.endpoint import Endpoint, endpoint_of
from heraldry.model.formats import protocol_family
from heraldry.pipeline.settings import LandSettings
from heraldry.pipeline.sources.opening_options import refuse_raw_log, refuse_strange
from heraldry.pipeline.sources.source import Source

KINDS = ("files:DIR", "raw-log:DIR", "endpoint:XID", *(f"{scheme}://..." for scheme in SCHEMES))
"""How the URLs of sources begin."""


def open_source(url: str, *, catalog: Catalog, settings: LandSettings, checkpoint: str) -> Source:
    """The source of a URL; wrong ones are refused before anything is started."""
    kind, _, rest = url.partition(":")
    match kind.lower():
        case "files" if rest:
            from heraldry.pipeline.sources.files import KNOWN, FilesSource, refuse_own

            refuse_strange(settings.source_options, KNOWN)
            refuse_raw_log(settings)
            refuse_own(rest, settings.warehouse, "--to")
            refuse_own(rest, checkpoint, "--checkpoint")
            return FilesSource(rest, settings)
        case "raw-log" if rest:
            from heraldry.pipeline.sources.raw_log import RawLogSource

            refuse_strange(settings.source_options, ())
            refuse_raw_log(settings, rest)
            return RawLogSource(rest, settings, checkpoint)
        case "endpoint" if rest:
            given = settings.source_options
            endpoint, own = completed_endpoint(endpoint_of(catalog, rest), given)
            source = source_of(endpoint, replace(settings, source_options=own), checkpoint)
            source.database = endpoint.xid.group
            return source
        case scheme if scheme in SCHEMES and rest.startswith("//"):
            return source_of(endpoint_of_url(url), settings, checkpoint)
    raise UsageError(f"cannot read from {kind or url!r}", f"a source is {', '.join(KINDS)}")


def source_of(endpoint: Endpoint, settings: LandSettings, checkpoint: str) -> Source:
    """The source that an endpoint is, by its protocol."""
    family = protocol_family(endpoint.protocol)[0]
    if family == "KAFKA":
        from heraldry.pipeline.sources.kafka import KafkaSource

        refuse_raw_log(settings)
        return KafkaSource(endpoint, settings)
    if family == "NATS" and is_jetstream(endpoint):
        from heraldry.pipeline.sources.jetstream import JetStreamSource

        refuse_raw_log(settings)
        return JetStreamSource(endpoint, settings, checkpoint)
    if family == "HTTP":
        told = f"{endpoint.xid} is reached over HTTP, where messages are sent to us"
        raise UsageError(told, "take them in by heraldry intake --log DIR, land raw-log:DIR")
    from heraldry.pipeline.sources.intake import IntakeSource

    return IntakeSource(endpoint, settings, checkpoint)


def is_jetstream(endpoint: Endpoint) -> bool:
    """Whether an endpoint of NATS says that it is a stream; nothing is guessed from the server."""
    told = flag(Connection(endpoint=endpoint, usage="consumer"), "jetstream")
    named = any(endpoint.option(name) for name in ("stream", "durable", "consumer"))
    return named if told is None else told
