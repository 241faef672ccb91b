"""Hostile imports and comparisons end in a clear error, or well, and soon."""

from __future__ import annotations

import time

import pytest

from heraldry.errors import SchemaError
from heraldry.schemas.formats import changes
from heraldry.schemas.formats import compile as compile_schema
from heraldry.schemas.source import Reference
from tests.schemas.json_structure.hostile import DOCUMENTS, TEXT, document, named

SECONDS = 3.0


def test_imports_that_multiply_are_refused():
    texts = {
        f"urn:{number}": document(
            **named(**{f"p{number}": TEXT}),
            definitions={
                "A": {"$import": f"urn:{number + 1}"},
                "B": {"$import": f"urn:{number + 1}"},
            },
        )
        for number in range(30)
    }
    texts["urn:30"] = document(**named(p=TEXT))
    references = tuple(Reference(name, content) for name, content in texts.items())
    start = time.process_time()
    with pytest.raises(SchemaError, match="with its imports"):
        compile_schema("JsonStructure", texts["urn:0"], references=references)
    assert time.process_time() - start < SECONDS


def test_deep_types_are_compared_soon():
    old = compile_schema("JsonStructure", dict(DOCUMENTS)["nested near the limit"])
    new = compile_schema("JsonStructure", dict(DOCUMENTS)["chain of records"])
    start = time.process_time()
    assert changes(old, new)
    assert changes(new, compile_schema("JsonStructure", document(**named(next=TEXT))))
    assert time.process_time() - start < SECONDS
