"""Every exception of Heraldry: one tree; fields are the arguments, the text is made from them.

Each class passes all its fields to ``super().__init__``, so every error pickles (Spark ships
errors between processes). ``type`` is the xRegistry error type where the specification has one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from heraldry.model.problem import Problem


class HeraldryError(Exception):
    """The root of all errors; ``exit_code`` is what the command line ends with."""

    type: ClassVar[str] = "server_error"
    status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 2


class UsageError(HeraldryError):
    """A request that cannot be carried out as it was put; ``advice`` says what would be right."""

    type = "bad_request"
    status = 400

    def __init__(self, reason: str, advice: str = "") -> None:
        super().__init__(reason, advice)
        self.reason, self.advice = reason, advice

    def __str__(self) -> str:
        return f"{self.reason}: {self.advice}" if self.advice else self.reason


class MissingExtraError(HeraldryError):
    """A part of Heraldry was asked for whose optional dependency is not installed."""

    def __init__(self, extra: str, module: str) -> None:
        super().__init__(extra, module)
        self.extra, self.module = extra, module

    def __str__(self) -> str:
        return f"this needs {self.module}: pip install 'heraldry[{self.extra}]'"


class XidError(HeraldryError):
    """A text that is not an xid."""

    type = "malformed_xid"
    status = 400

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(text, reason)
        self.text, self.reason = text, reason

    def __str__(self) -> str:
        return f"{self.text!r} is not an xid: {self.reason}"


class DocumentError(HeraldryError):
    """A catalog document that cannot be read; ``location`` is a line or a JSON pointer."""

    type = "parsing_data"
    status = 400
    exit_code = 1

    def __init__(self, file: str, location: str, reason: str) -> None:
        super().__init__(file, location, reason)
        self.file, self.location, self.reason = file, location, reason

    def __str__(self) -> str:
        where = f"{self.file}: {self.location}" if self.location else self.file
        return f"{where}: {self.reason}"


class DialectError(DocumentError):
    """A document of a generation that is recognised but not read."""


class CircularBaseError(HeraldryError):
    """A ``basemessage`` chain that comes back to itself."""

    type = "invalid_data"
    status = 400
    exit_code = 1

    def __init__(self, chain: tuple[str, ...]) -> None:
        super().__init__(chain)
        self.chain = chain

    def __str__(self) -> str:
        return "basemessage is circular: " + " -> ".join(self.chain)


class LongBaseError(CircularBaseError):
    """A ``basemessage`` chain that is too long to be followed; ``chain`` is its first and last."""

    def __str__(self) -> str:
        return "the basemessage chain is too long: " + " -> ... -> ".join(self.chain)


class UnknownDefinitionError(HeraldryError):
    """An xid that names no message definition of the catalog; ``near`` lists similar ones."""

    type = "not_found"
    status = 404

    def __init__(self, xid: str, near: tuple[str, ...] = (), place: str = "the catalog") -> None:
        super().__init__(xid, near, place)
        self.xid, self.near, self.place = xid, near, place

    def __str__(self) -> str:
        hint = f"; did you mean {' or '.join(self.near)}?" if self.near else ""
        return f"{self.place} has no message definition {self.xid}{hint}"


class UnknownEndpointError(HeraldryError):
    """An xid that names no endpoint of the catalog; ``near`` lists similar ones."""

    type = "not_found"
    status = 404

    def __init__(self, xid: str, near: tuple[str, ...] = ()) -> None:
        super().__init__(xid, near)
        self.xid, self.near = xid, near

    def __str__(self) -> str:
        hint = f"; did you mean {' or '.join(self.near)}?" if self.near else ""
        return f"the catalog has no endpoint {self.xid}{hint}"


class TemplateError(HeraldryError):
    """A value that is not an RFC 6570 level 1 template."""

    type = "invalid_data"
    status = 400

    def __init__(self, template: str, reason: str) -> None:
        super().__init__(template, reason)
        self.template, self.reason = template, reason

    def __str__(self) -> str:
        return f"{self.template!r} is not a template: {self.reason}"


class PlaceholderError(TemplateError):
    """A template that cannot be filled: ``placeholder`` has no value."""

    def __init__(self, template: str, placeholder: str, reason: str) -> None:
        HeraldryError.__init__(self, template, placeholder, reason)
        self.template, self.placeholder, self.reason = template, placeholder, reason

    def __str__(self) -> str:
        return f"{self.template!r} cannot be filled: {{{self.placeholder}}} {self.reason}"


class SchemaError(HeraldryError):
    """A payload schema that does not compile; the definition then carries its payload raw."""

    type = "format_violation"
    status = 400

    def __init__(self, format: str, location: str, reason: str) -> None:  # noqa: A002
        super().__init__(format, location, reason)
        self.format, self.location, self.reason = format, location, reason

    def __str__(self) -> str:
        where = f" at {self.location}" if self.location else ""
        return f"{self.format} schema does not compile{where}: {self.reason}"


class NoRootError(SchemaError):
    """A valid schema document where nothing says which of its parts is meant; a link would."""

    def __str__(self) -> str:
        return f"{self.format} schema names no part to be used: {self.reason}"


class UnreadableError(HeraldryError):
    """A part of a schema that no columns can be read from; it becomes JSON text."""

    def __str__(self) -> str:
        return "this part of the schema gives no columns"


class UnsupportedPatternError(HeraldryError):
    """A pattern that no sample text can be made for."""

    def __str__(self) -> str:
        return "no sample can be made for this pattern"


class MessageError(HeraldryError):
    """Bytes that are no message; ``problems`` says why, with the rule of each."""

    type = "invalid_data"
    status = 400

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__(problems)
        self.problems = problems

    def __str__(self) -> str:
        return "not a message: " + "; ".join(str(p) for p in self.problems)


class BuildError(HeraldryError):
    """A message the definition forbids; lists every problem at once."""

    type = "invalid_data"
    status = 400
    exit_code = 1

    def __init__(self, definition: str, problems: tuple[Problem, ...]) -> None:
        super().__init__(definition, problems)
        self.definition, self.problems = definition, problems

    def __str__(self) -> str:
        lines = "".join(f"\n  {p}" for p in self.problems)
        return f"{self.definition} refuses this message:{lines}"


class WarehouseError(HeraldryError):
    """A warehouse or table that cannot be used as it is; ``advice`` says what would help."""

    def __init__(self, path: str, reason: str, advice: str = "") -> None:
        super().__init__(path, reason, advice)
        self.path, self.reason, self.advice = path, reason, advice

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}" + (f" ({self.advice})" if self.advice else "")


class PipelineError(HeraldryError):
    """The pipeline stopped; nothing was lost, and the next run goes on where it was."""

    def __init__(self, stage: str, reason: str) -> None:
        super().__init__(stage, reason)
        self.stage, self.reason = stage, reason

    def __str__(self) -> str:
        return f"the pipeline stopped while it {self.stage}: {self.reason}"


class TransportError(HeraldryError):
    """A server that cannot be reached or refuses; ``advice`` says what helps.

    ``endpoint`` is the xid of its endpoint, or the address of a registry. Never holds a
    credential: addresses are told without their user part.
    """

    def __init__(self, endpoint: str, reason: str, advice: str = "") -> None:
        super().__init__(endpoint, reason, advice)
        self.endpoint, self.reason, self.advice = endpoint, reason, advice

    def __str__(self) -> str:
        return f"{self.endpoint}: {self.reason}" + (f" ({self.advice})" if self.advice else "")


class DeniedError(TransportError):
    """A server that denies its user a right: to ask it again does not help."""


class RegistryError(HeraldryError):
    """A request the registry refuses, as an error type of the specification (ER-01..ER-06).

    ``name`` is the error type (``invalid_attribute``), ``subject`` what it is about (an xid or the
    path of the request), ``arguments`` the values of its title's placeholders. Status and title
    belong to the generation spoken: ``dialects.xreg_1_0.error_catalogue``.
    """

    status = 400
    exit_code = 1

    def __init__(
        self,
        name: str,
        subject: str = "",
        arguments: Mapping[str, str] | None = None,
        detail: str = "",
    ) -> None:
        super().__init__(name, subject, dict(arguments or {}), detail)
        self.name, self.subject, self.detail = name, subject, detail
        self.arguments: dict[str, str] = dict(arguments or {})

    def __str__(self) -> str:
        said = ", ".join(f"{name} {value}" for name, value in self.arguments.items())
        parts = [self.name.replace("_", " "), self.subject, said, self.detail]
        return ": ".join(part for part in parts if part)


class IncompleteError(HeraldryError):
    """A reply that needs what its request has not got yet; it gets it, and is carried out again.

    ``elsewhere``: addresses of documents that are kept elsewhere, with the entity that names each;
    none: room in memory. No client is ever told.
    """

    def __init__(self, elsewhere: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(elsewhere)
        self.elsewhere = elsewhere

    def __str__(self) -> str:
        return "the request needs more than it has got"


class StoreError(HeraldryError):
    """A database that cannot be used as it is; ``advice`` says what would help."""

    def __init__(self, database: str, reason: str, advice: str = "") -> None:
        super().__init__(database, reason, advice)
        self.database, self.reason, self.advice = database, reason, advice

    def __str__(self) -> str:
        return f"{self.database}: {self.reason}" + (f" ({self.advice})" if self.advice else "")


class StoreBusyError(StoreError):
    """A database that others hold, or that cannot be reached, just now; it may pass."""

    type = "server_busy"
    status = 503


class StoreFullError(StoreError):
    """A database whose disk has no room for a write; it goes on as soon as there is some."""

    type = "insufficient_storage"
    status = 507


class ClientError(HeraldryError):
    """What a registry answered a client of ours: ``problem`` is its problem document."""

    exit_code = 1

    def __init__(self, url: str, code: int, problem: Mapping[str, object]) -> None:
        super().__init__(url, code, dict(problem))
        self.url, self.code = url, code
        self.problem: dict[str, object] = dict(problem)

    def __str__(self) -> str:
        title, detail = self.problem.get("title"), self.problem.get("detail")
        said = title or detail or "no reason was given"
        more = f"\n  {detail}" if title and detail else ""
        return f"{self.url} answered {self.code}: {said}{more}"


class RawLogError(HeraldryError):
    """A raw log that cannot be written or read as it is; ``advice`` says what would help."""

    status = 503

    def __init__(self, path: str, reason: str, advice: str = "") -> None:
        super().__init__(path, reason, advice)
        self.path, self.reason, self.advice = path, reason, advice

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}" + (f" ({self.advice})" if self.advice else "")
