"""The errors of 1.0: their status and title in each generation, as problem documents (ER-01..08).

Titles are our own words; the placeholders are the specification's (ER-04). A few errors of ours
have types of ours: what they say has no name in the specification, and its types fix the status.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from heraldry.dialects.xreg_1_0.wire import RC2, RC4, Wire
from heraldry.errors import RegistryError

_SPECIFICATION = "https://github.com/xregistry/spec/blob/main/core/"
_OURS = "urn:heraldry:error:"
_PLACEHOLDER = re.compile(r"<([a-z][a-z0-9_]*)>")


@dataclass(frozen=True, slots=True)
class ErrorType:
    """One error type: ``home`` is the document that defines it, empty for one of ours."""

    status: int
    title: str
    home: str = "spec.md"

    def uri(self, name: str) -> str:
        """The ``type`` of the problem document (ER-02)."""
        return f"{_SPECIFICATION}{self.home}#{name}" if self.home else f"{_OURS}{name}"


def _flag_value(flag: str) -> ErrorType:
    return ErrorType(400, f'The value (<value>) of "{flag}" cannot be used: <error_detail>')


BOTH: Final = {
    "action_not_supported": ErrorType(405, "The action (<action>) is not supported for: <subject>"),
    "ancestor_circular_reference": ErrorType(
        400, 'For "<subject>", the ancestors would form a circle: <list>'
    ),
    "api_not_found": ErrorType(404, "There is no such API: <subject>", "http.md"),
    "bad_defaultversionid": _flag_value("defaultversionid"),
    "bad_details": ErrorType(400, '"$details" is not allowed here: <subject>'),
    "bad_filter": _flag_value("filter"),
    "bad_flag": ErrorType(400, "The flag (<flag>) is not allowed here: <subject>"),
    "bad_ignore": _flag_value("ignore"),
    "bad_inline": _flag_value("inline"),
    "bad_request": ErrorType(400, "<error_detail>"),
    "bad_sort": _flag_value("sort"),
    "cannot_doc_xref": ErrorType(
        400, 'There is no document view of the Versions of "<subject>": it uses "xref"'
    ),
    "capability_error": ErrorType(400, "The capabilities cannot be used: <error_detail>"),
    "capability_missing_value": ErrorType(400, 'The capability "<name>" must contain "<value>"'),
    "capability_unknown": ErrorType(400, "There is no such capability: <field>"),
    "capability_value": ErrorType(
        400, 'The capability "<field>" cannot have the value (<value>). Allowed are: <list>'
    ),
    "capability_wildcard": ErrorType(400, 'In "<field>", "*" must be the only value'),
    "compatibility_unknown": ErrorType(
        400, 'The compatibility (<compat>) of "<subject>" cannot be checked for format "<format>"'
    ),
    "compatibility_violation": ErrorType(
        400, 'Versions of "<subject>" would break its compatibility rule (<compat>)'
    ),
    "constraint_failure": ErrorType(
        400, 'Versions of "<subject>" would break the "<kind>" constraint of its Group on "<path>"'
    ),
    "data_retrieval_error": ErrorType(500, "The requested data could not be read completely"),
    "defaultversionid_request": ErrorType(
        400, 'For "<subject>", "request" names no Version: none was processed'
    ),
    "details_required": ErrorType(405, 'PATCH needs "$details" for: <subject>', "http.md"),
    "extra_xref_attribute": ErrorType(
        400, 'The attribute "<name>" is not allowed: the <singular> (<subject>) uses "xref"'
    ),
    "extra_xregistry_header": ErrorType(
        400, 'The header "<name>" is not allowed here: <error_detail>', "http.md"
    ),
    "format_external": ErrorType(
        400, 'The document of Version "<subject>" is outside the Registry and cannot be validated'
    ),
    "format_inconsistent": ErrorType(
        400, 'The Versions of "<subject>" must all have the same "format" ("consistentformat")'
    ),
    "format_unknown": ErrorType(400, 'The format (<format>) of Version "<subject>" is not known'),
    "format_violation": ErrorType(
        400, 'The document of Version "<subject>" does not comply with its format (<format>)'
    ),
    "groups_only": ErrorType(
        400, 'The attribute "<name>" is not allowed, only Group types are: <subject>'
    ),
    "hasdocument_violation": ErrorType(
        400, 'Version "<subject>" has a document, but "<plural>" would have "hasdocument" false'
    ),
    "header_error": ErrorType(400, 'The header "<name>" cannot be read: <error_detail>', "http.md"),
    "inline_noninlineable": ErrorType(400, "The attribute (<name>) cannot be inlined: <subject>"),
    "invalid_attribute": ErrorType(
        400, 'The attribute "<name>" of "<subject>" is not valid: <error_detail>'
    ),
    "malformed_id": ErrorType(400, "The id (<id>) is malformed: <error_detail>"),
    "malformed_xid": ErrorType(400, "The xid (<xid>) is malformed: <error_detail>"),
    "malformed_xref": ErrorType(400, "The xref (<xref>) is malformed: <error_detail>"),
    "mismatched_epoch": ErrorType(
        400, 'The epoch (<bad_epoch>) for "<subject>" is not its current one (<epoch>)'
    ),
    "mismatched_id": ErrorType(
        400, 'The "<singular>id" (<invalid_id>) for "<subject>" must be "<expected_id>"'
    ),
    "mismatched_version_attribute": ErrorType(
        400, 'The attribute "<name>" must be the same in all Versions of "<subject>"'
    ),
    "misplaced_epoch": ErrorType(400, 'The "epoch" for "<subject>" belongs inside "meta"'),
    "missing_body": ErrorType(400, "The request has no body; send at least {}", "http.md"),
    "missing_versions": ErrorType(
        400, 'For "<subject>", at least one Version must be given', "http.md"
    ),
    "model_compliance_error": ErrorType(
        400, "Entities of the Registry would not comply with the model"
    ),
    "model_error": ErrorType(400, "The model cannot be used: <error_detail>"),
    "model_required_true": ErrorType(
        400, 'The model attribute "<name>" has a default, so "required" must be true'
    ),
    "model_scalar_default": ErrorType(
        400, 'The model attribute "<name>" is no scalar and cannot have a default'
    ),
    "multiple_roots": ErrorType(
        400, '"<subject>" would have several root Versions, which "<plural>" does not allow'
    ),
    "not_available": ErrorType(400, "The requested data (<subject>) is not available"),
    "not_found": ErrorType(404, "The entity (<subject>) cannot be found"),
    "one_resource": ErrorType(400, 'Only one of "<list>" can be given for: <subject>'),
    "parsing_data": ErrorType(400, "The data cannot be parsed: <error_detail>"),
    "readonly": ErrorType(400, "The entity (<subject>) is read-only"),
    "required_attribute_missing": ErrorType(
        400, '"<subject>" lacks attributes that are required: <list>'
    ),
    "resources_only": ErrorType(
        400, 'The attribute "<name>" is not allowed, only Resource types are: <subject>'
    ),
    "server_busy": ErrorType(
        503, 'The server is too busy to complete "<subject>"; try again later'
    ),
    "server_error": ErrorType(500, "An unexpected error occurred; try again later"),
    "setdefaultversionid_not_allowed": ErrorType(
        400, 'For "<subject>", the default Version of "<singular>" entities cannot be chosen'
    ),
    "setdefaultversionsticky_false": ErrorType(
        400, '"setdefaultversionsticky" must be "false" where "maxversions" is "1"'
    ),
    "sort_noncollection": ErrorType(400, "Only a collection can be sorted: <subject>"),
    "too_large": ErrorType(406, "The response would be too large"),
    "too_many_versions": ErrorType(
        400, 'For "<subject>", "setdefaultversionid=request" allows one Version only'
    ),
    "unknown_attribute": ErrorType(400, 'There is no attribute (<name>) for "<subject>"'),
    "unknown_group_type": ErrorType(400, 'There is no Group type (<name>) as in "<subject>"'),
    "unknown_id": ErrorType(
        400, 'For "<subject>", the "<singular>" whose "<singular>id" is "<id>" cannot be found'
    ),
    "unknown_resource_type": ErrorType(
        400, 'There is no Resource type (<name>) for Group type "<group>"'
    ),
    "unsupported_specversion": ErrorType(
        400, 'The "specversion" (<specversion>) is not supported. Supported are: <list>'
    ),
    "versionid_not_allowed": ErrorType(
        400, 'For "<subject>", a "versionid" cannot be chosen: "<plural>" has "setversionid" false'
    ),
    # Ours: conditional requests (docs/decisions/0017).
    "precondition_failed": ErrorType(412, 'For "<subject>", <name> does not hold', ""),
    # Ours: what web pages may not do (docs/decisions/0018).
    "foreign_host": ErrorType(403, "The host (<host>) is not one of this server", ""),
    "foreign_page": ErrorType(403, "A web page of <origin> may not write to: <subject>", ""),
    "page_media_type": ErrorType(
        403, 'For "<subject>", a web page must send JSON as such, not as <type>', ""
    ),
    # Ours: the limits of a server, and bodies it cannot read.
    "request_too_large": ErrorType(413, 'For "<subject>", the body is too large', ""),
    "insufficient_storage": ErrorType(507, 'There is no room to store "<subject>"', ""),
    "write_too_long": ErrorType(413, 'For "<subject>", the write takes too long', ""),
    "query_too_long": ErrorType(414, 'For "<subject>", the query is too long', ""),
    "headers_too_large": ErrorType(431, 'For "<subject>", the headers are too large', ""),
    "unsupported_encoding": ErrorType(
        415, 'For "<subject>", the content encoding (<encoding>) is not supported', ""
    ),
}

_SUBJECT_SAID: Final = (
    *("bad_defaultversionid", "bad_filter", "bad_ignore", "bad_inline", "bad_sort"),
    *("extra_xregistry_header", "header_error", "malformed_id", "malformed_xid", "malformed_xref"),
    *("missing_body", "too_large"),
)
"""Errors whose title names the subject since rc4 (ER-07)."""

_ONLY: Final = {
    RC2.specversion: {
        "extra_xref_attribute": ErrorType(
            400, 'The attribute "<name>" is not allowed: the Resource (<subject>) uses "xref"'
        ),
    },
    RC4.specversion: {
        "setdefaultversionsticky_false": ErrorType(
            400, 'For "<subject>", "defaultversionsticky" cannot be "true": "maxversions" is "1"'
        ),
    }
    | {
        name: ErrorType(BOTH[name].status, f'For "<subject>": {BOTH[name].title}', BOTH[name].home)
        for name in _SUBJECT_SAID
    },
}

_WITHOUT_SUBJECT: Final = {
    RC2.specversion: frozenset({"header_error", "parsing_data"}),
    RC4.specversion: frozenset[str](),
}


def error_type(name: str, wire: Wire) -> ErrorType:
    """The error type of a name in a generation."""
    return _ONLY[wire.specversion].get(name) or BOTH[name]


def problem(error: RegistryError, wire: Wire) -> tuple[int, dict[str, Any]]:
    """Status and problem document of an error, in a generation (ER-01..ER-07)."""
    name, arguments = _spoken(error, wire)
    kind = error_type(name, wire)
    wanted = dict.fromkeys(_PLACEHOLDER.findall(kind.title))
    shown = {one: arguments.get(one, "") for one in wanted if one != "subject"}
    without = _WITHOUT_SUBJECT[wire.specversion]
    body: dict[str, Any] = {
        "type": kind.uri(name),
        "title": _filled(kind.title, {**shown, "subject": error.subject}),
        "detail": error.detail,
        "subject": "" if name in without else error.subject,
        "args": shown,
    }
    return kind.status, {key: value for key, value in body.items() if value}


def _spoken(error: RegistryError, wire: Wire) -> tuple[str, dict[str, str]]:
    """The error's name and arguments in a generation, where another one has no such error."""
    name, arguments = error.name, error.arguments
    if wire is RC2:
        if name in ("defaultversionid_request", "too_many_versions"):
            return "bad_flag", {"flag": "setdefaultversionid"}
        if name == "mismatched_version_attribute" and arguments.get("name") == "format":
            return "format_inconsistent", {}
    elif name == "format_inconsistent":
        return "mismatched_version_attribute", {"name": "format"}
    elif name == "setdefaultversionid_not_allowed":
        detail = 'must be "false"'
        return "invalid_attribute", {"name": "defaultversionsticky", "error_detail": detail}
    return (name, arguments) if name in BOTH else ("server_error", {})


def _filled(title: str, values: dict[str, str]) -> str:
    text = _PLACEHOLDER.sub(lambda found: values.get(found[1], ""), title)
    return text if text.endswith(".") else f"{text}."
