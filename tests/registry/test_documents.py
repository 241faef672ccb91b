"""Documents under their format, and versions under the compatibility of their resource."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from heraldry.errors import RegistryError
from heraldry.model.metamodel import ResourceType
from heraldry.registry.capabilities import EVERYTHING, Capabilities
from heraldry.registry.documents import check_compatibility, check_formats
from heraldry.registry.draft import ResourceDraft, VersionDraft
from heraldry.registry.write_budget import WriteBudget
from heraldry.store.rows import Kind, Row

XID = "/schemagroups/g/schemas/s"
STRING = {"type": "string"}
SMALL = {"type": "object", "properties": {"a": STRING}, "required": ["a"]}
LARGER = {"type": "object", "properties": {"a": STRING, "b": STRING}, "required": ["a", "b"]}
TYPE = ResourceType(
    plural="schemas", singular="schema", validateformat=True, validatecompatibility=True
)


class Rows:
    """As much of a store as references need: versions with documents by xid."""

    def __init__(self, documents: dict[str, tuple[str, bytes]]) -> None:
        self._rows: dict[str, Row] = {}
        self._content: dict[int, bytes] = {}
        for key, (xid, (format_, content)) in enumerate(documents.items(), start=1):
            self._content[key] = content
            self._rows[xid] = self._row(key, f"{xid}/versions/1", Kind.VERSION, format_)
            version = self._rows[xid]
            self._rows[f"{xid}/versions/1"] = version
            resource = replace(version, kind=Kind.RESOURCE, xid=xid, default=key, document=0)
            self._rows[xid] = resource

    def _row(self, key: int, xid: str, kind: Kind, format_: str) -> Row:
        return Row(
            key=key,
            parent=0,
            kind=kind,
            type="schemagroups/schemas/versions",
            xid=xid,
            id="1",
            attributes={"format": format_},
            document=key,
        )

    def find(self, xid: str) -> Row | None:
        """The entity of an xid."""
        return self._rows.get(xid)

    def by_key(self, keys: list[int]) -> dict[int, Row]:
        """Versions by key."""
        versions = {row.key: row for row in self._rows.values() if row.kind is Kind.VERSION}
        return {key: versions[key] for key in keys}

    def document(self, key: int) -> bytes:
        """A document."""
        return self._content[key]


def unit(
    capabilities: Capabilities = EVERYTHING,
    documents: dict[str, tuple[str, bytes]] | None = None,
    *,
    remodelled: bool = False,
) -> Any:
    """As much of a write as the checks need."""
    return SimpleNamespace(
        capabilities=capabilities,
        tx=Rows(documents or {}),
        request=SimpleNamespace(base="https://example.com/reg"),
        remodelled=remodelled,
        budget=WriteBudget(),
    )


def draft(
    versions: dict[str, Any],
    compatibility: str | None = None,
    type_: ResourceType = TYPE,
    **values: Any,
) -> Any:
    """A new resource with versions in a line; a document is text, bytes, JSON or None."""
    found = ResourceDraft(
        names=SimpleNamespace(type=type_, documents=("schema", "schemabase64", "schemaurl")),  # type: ignore[arg-type]
        group=None,  # type: ignore[arg-type]
        id="s",
        key=1,
        xid=XID,
        old=None,
        meta={"compatibility": compatibility} if compatibility else {},
    )
    before = ""
    for id_, document in versions.items():
        content = document
        if isinstance(document, dict):
            content = json.dumps(document).encode()
        elif isinstance(document, str):
            content = document.encode()
        found.versions[id_] = VersionDraft(
            id=id_,
            key=1,
            xid=f"{XID}/versions/{id_}",
            old=None,
            values={"format": "JsonSchema/draft-07", "ancestorid": before or id_, **values},
            content=content,
        )
        before = id_
    return found


def said(found: ResourceDraft, id_: str = "1") -> dict[str, Any]:
    """What a version says about its checks."""
    values = found.versions[id_].values
    return {name: value for name, value in values.items() if "validated" in name}


def strict(type_: ResourceType = TYPE) -> ResourceType:
    """A type with strict validation."""
    return replace(type_, strictvalidation=True)


@pytest.mark.covers("VA-01", "VE-11")
def test_a_valid_document_is_validated() -> None:
    found = draft({"1": SMALL})
    check_formats(unit(), found)
    assert said(found) == {"formatvalidated": True}


@pytest.mark.parametrize("type_", [TYPE, strict()], ids=["tolerant", "strict"])
@pytest.mark.covers("VA-01", "VE-11")
def test_a_broken_document_is_an_error_strict_or_not(type_: ResourceType) -> None:
    with pytest.raises(RegistryError) as caught:
        check_formats(unit(), draft({"1": {"type": "strange"}}, type_=type_))
    error = caught.value
    assert (error.name, error.subject) == ("format_violation", f"{XID}/versions/1")
    assert error.arguments == {"format": "JsonSchema/draft-07"}
    assert "strange" in error.detail or "type" in error.detail


@pytest.mark.parametrize(
    ("values", "error"),
    [
        pytest.param({"format": "Numbers/1"}, "format_unknown", id="unknown-format"),
        pytest.param({"schemaurl": "https://a/s.json"}, "format_external", id="external"),
    ],
)
@pytest.mark.covers("VA-02", "VE-11", "KD-9", "KD-30")
def test_what_cannot_be_checked_says_why_or_is_an_error_if_strict(
    values: dict[str, Any], error: str
) -> None:
    found = draft({"1": None}, "backward", **values)
    check_formats(unit(), found)
    check_compatibility(unit(), found)
    result = said(found)
    assert result["formatvalidated"] is False
    assert result["formatvalidatedreason"]
    assert result["compatibilityvalidated"] is False
    assert result["compatibilityvalidatedreason"]
    with pytest.raises(RegistryError) as caught:
        check_formats(unit(), draft({"1": None}, type_=strict(), **values))
    assert (caught.value.name, caught.value.subject) == (error, f"{XID}/versions/1")


@pytest.mark.parametrize("format_", ["Protobuf/3", "Avro/1.11"])
@pytest.mark.parametrize(
    ("content", "type_"),
    [
        pytest.param(b"", TYPE, id="empty"),
        pytest.param(None, TYPE, id="none"),
        pytest.param(None, replace(TYPE, hasdocument=False), id="hasdocument-false"),
    ],
)
@pytest.mark.covers("VA-03")
def test_no_document_and_an_empty_one_are_the_same(
    format_: str, content: bytes | None, type_: ResourceType
) -> None:
    found = draft({"1": content}, type_=type_, format=format_)
    with pytest.raises(RegistryError, match="empty"):
        check_formats(unit(), found)


@pytest.mark.parametrize("type_", [TYPE, strict()], ids=["tolerant", "strict"])
@pytest.mark.covers("VA-05", "VE-11", "VE-12")
def test_without_a_format_nothing_is_checked_nor_said(type_: ResourceType) -> None:
    found = draft({"1": {"type": "strange"}}, "full", type_, format=None, formatvalidated=True)
    check_formats(unit(), found)
    check_compatibility(unit(), found)
    assert said(found) == {}


@pytest.mark.covers("VA-01", "VE-11", "MD-46")
def test_a_type_without_validation_checks_nothing() -> None:
    plain = replace(TYPE, validateformat=False, validatecompatibility=False)
    found = draft(
        {"1": {"type": "strange"}},
        "full",
        plain,
        formatvalidated=False,
        formatvalidatedreason="of another model",
    )
    check_formats(unit(), found)
    check_compatibility(unit(), found)
    assert said(found) == {}


@pytest.mark.parametrize(
    ("format_", "checked"),
    [
        pytest.param("JSONSCHEMA/Draft-07", True, id="any-case"),
        pytest.param("json-schema/draft-07", True, id="another-name"),
        pytest.param("Avro/1.11", False, id="not-listed"),
    ],
)
@pytest.mark.covers("VA-06", "VE-10")
def test_only_formats_of_the_capabilities_count(format_: str, checked: bool) -> None:
    some = replace(EVERYTHING, formats=("jsonschema*",), compatibilities={})
    found = draft({"1": SMALL}, format=format_)
    check_formats(unit(some), found)
    assert said(found)["formatvalidated"] is checked


@pytest.mark.parametrize(
    ("format_", "mode", "checked"),
    [
        pytest.param("JsonSchema/draft-07", "BACKWARD", True, id="listed"),
        pytest.param("json-schema/draft-07", "backward", True, id="another-name"),
        pytest.param("JsonSchema/draft-07", "full", False, id="another-rule"),
    ],
)
@pytest.mark.covers("VA-04", "VA-06", "VE-12", "ME-06")
def test_only_pairs_of_the_capabilities_count(format_: str, mode: str, checked: bool) -> None:
    some = replace(EVERYTHING, compatibilities={"jsonschema*": ("backward",)})
    found = draft({"1": SMALL, "2": SMALL}, mode, format=format_)
    check_compatibility(unit(some), found)
    assert said(found, "2")["compatibilityvalidated"] is checked
    if not checked:
        assert mode in said(found, "2")["compatibilityvalidatedreason"]
        with pytest.raises(RegistryError) as caught:
            check_compatibility(unit(some), draft({"1": SMALL}, mode, strict(), format=format_))
        assert (caught.value.name, caught.value.subject) == ("compatibility_unknown", XID)
        assert caught.value.arguments == {"compat": mode, "format": format_}


@pytest.mark.covers("VA-04", "VE-12")
def test_a_version_without_ancestor_is_compatible() -> None:
    found = draft({"1": SMALL}, "full_transitive")
    check_compatibility(unit(), found)
    assert said(found) == {"compatibilityvalidated": True}


@pytest.mark.covers("VA-04", "ME-06")
def test_an_incompatible_version_is_an_error_that_names_the_versions() -> None:
    with pytest.raises(RegistryError) as caught:
        check_compatibility(unit(), draft({"1": SMALL, "2": LARGER}, "backward"))
    error = caught.value
    assert (error.name, error.subject) == ("compatibility_violation", XID)
    assert error.arguments == {"compat": "backward"}
    assert "Version 2" in error.detail
    assert "version 1" in error.detail
    check_compatibility(unit(), draft({"1": SMALL, "2": LARGER}, "forward"))


def record(*fields: tuple[str, str]) -> dict[str, Any]:
    """An Avro record; a number has a default."""
    told = [
        {"name": name, "type": type_, **({"default": 0} if type_ == "int" else {})}
        for name, type_ in fields
    ]
    return {"type": "record", "name": "R", "fields": told}


BARE, WITH_TEXT = record(("a", "string")), record(("a", "string"), ("b", "string"))
WITH_NUMBER = record(("a", "string"), ("b", "int"))
"""Goes with BARE, which goes with WITH_TEXT, with which it does not go."""


@pytest.mark.parametrize(
    ("mode", "breaks"),
    [
        pytest.param("backward", False, id="with-its-ancestor"),
        pytest.param("backward_transitive", True, id="with-all-ancestors"),
    ],
)
@pytest.mark.covers("VA-04", "ME-06")
def test_the_lineage_decides_what_is_compared(mode: str, breaks: bool) -> None:
    chain = {"1": WITH_TEXT, "2": BARE, "3": WITH_NUMBER}
    beside = draft(chain, mode, format="Avro/1.11")
    beside.versions["2"].values["ancestorid"] = "2"
    check_compatibility(unit(), beside)
    inline = draft(chain, mode, format="Avro/1.11")
    if breaks:
        with pytest.raises(RegistryError, match=r"Version 3 .* version 1"):
            check_compatibility(unit(), inline)
    else:
        check_compatibility(unit(), inline)
        assert said(inline, "3") == {"compatibilityvalidated": True}


@pytest.mark.covers("VE-12", "VA-05")
def test_a_version_whose_ancestor_has_no_format_is_not_compared() -> None:
    found = draft({"1": SMALL, "2": SMALL}, "backward")
    found.versions["1"].values["format"] = None
    check_compatibility(unit(), found)
    assert said(found, "1") == {}
    assert said(found, "2")["compatibilityvalidated"] is False
    assert "no format" in said(found, "2")["compatibilityvalidatedreason"]


@pytest.mark.covers("ME-06", "VE-12")
def test_without_a_rule_nothing_is_said_about_compatibility() -> None:
    found = draft({"1": SMALL, "2": LARGER}, compatibilityvalidated=True)
    check_compatibility(unit(), found)
    assert said(found, "2") == {}


def stored(found: Any) -> Any:
    """The same resource as if it had been stored."""
    found.old = SimpleNamespace(attributes=dict(found.meta))
    for version in found.versions.values():
        version.old = SimpleNamespace(attributes=dict(version.values), document=0)
        version.content = None
    return found


class Unreadable(Rows):
    """A store whose documents must not be read."""

    def document(self, key: int) -> bytes:
        """Fail."""
        raise AssertionError(key)


def test_what_did_not_change_is_not_read_again() -> None:
    found = draft({"1": SMALL, "2": SMALL}, "full_transitive")
    check_formats(unit(), found)
    check_compatibility(unit(), found)
    again = stored(found)
    for version in again.versions.values():
        version.document = version.old.document = 7
    resting = unit()
    resting.tx = Unreadable({})
    check_formats(resting, again)
    check_compatibility(resting, again)
    assert said(again, "2") == {"formatvalidated": True, "compatibilityvalidated": True}


@pytest.mark.parametrize(
    ("mode", "breaks"),
    [
        pytest.param("backward", False, id="not-beyond-the-next"),
        pytest.param("backward_transitive", True, id="down-the-line"),
    ],
)
@pytest.mark.covers("ME-06", "VA-04")
def test_a_changed_ancestor_is_compared_with_its_descendants(mode: str, breaks: bool) -> None:
    chain = {"1": BARE, "2": BARE, "3": WITH_NUMBER}
    found = draft(chain, mode, format="Avro/1.11")
    check_formats(unit(), found)
    check_compatibility(unit(), found)
    again = stored(found)
    rows = {f"/x/{id_}": ("Avro/1.11", json.dumps(one).encode()) for id_, one in chain.items()}
    for key, version in enumerate(again.versions.values(), start=1):
        version.document = version.old.document = key
    again.versions["1"].content = json.dumps(WITH_TEXT).encode()
    if breaks:
        with pytest.raises(RegistryError, match=r"Version 3 .* version 1"):
            check_compatibility(unit(documents=rows), again)
    else:
        check_compatibility(unit(documents=rows), again)
    again.versions["1"].content = json.dumps(record(("a", "long"))).encode()
    again.versions["2"].values["ancestorid"] = "2"
    again.versions["3"].values["ancestorid"] = "1"
    with pytest.raises(RegistryError, match=r"Version 3 .* version 1"):
        check_compatibility(unit(documents=rows), again)


@pytest.mark.covers("ME-06")
def test_another_rule_is_applied_to_all_versions() -> None:
    found = draft({"1": SMALL, "2": LARGER}, "forward")
    check_compatibility(unit(), found)
    again = stored(found)
    again.meta["compatibility"] = "backward"
    rows = {
        "/x/1": ("JsonSchema/draft-07", json.dumps(SMALL).encode()),
        "/x/2": ("JsonSchema/draft-07", json.dumps(LARGER).encode()),
    }
    for key, version in enumerate(again.versions.values(), start=1):
        version.document = version.old.document = key
    with pytest.raises(RegistryError, match="compatibility violation"):
        check_compatibility(unit(documents=rows), again)


REFERRED = json.dumps(STRING).encode()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("/schemagroups/g/schemas/other", id="xid"),
        pytest.param("/schemagroups/g/schemas/other/versions/1", id="version"),
        pytest.param("other", id="same-group"),
        pytest.param("https://example.com/reg/schemagroups/g/schemas/other", id="self"),
    ],
)
@pytest.mark.covers("VA-01")
def test_a_schema_may_refer_to_others_of_the_registry(name: str) -> None:
    others = {"/schemagroups/g/schemas/other": ("JsonSchema/draft-07", REFERRED)}
    found = draft({"1": {"properties": {"a": {"$ref": name}}}})
    check_formats(unit(documents=others), found)
    assert said(found) == {"formatvalidated": True}


@pytest.mark.covers("VA-02")
def test_a_reference_that_leads_out_of_the_registry_leaves_a_document_unchecked() -> None:
    away = {"properties": {"a": {"$ref": "https://elsewhere.example/a.json"}}}
    found = draft({"1": away})
    check_formats(unit(), found)
    assert said(found)["formatvalidated"] is False
    assert "https://elsewhere.example/a.json" in said(found)["formatvalidatedreason"]
    with pytest.raises(RegistryError) as caught:
        check_formats(unit(), draft({"1": away}, type_=strict()))
    assert caught.value.name == "format_external"


@pytest.mark.covers("VA-01")
def test_a_type_that_avro_does_not_know_is_a_violation() -> None:
    typo = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "strng"}]}
    with pytest.raises(RegistryError, match="strng"):
        check_formats(unit(), draft({"1": typo}, format="Avro/1.11"))
