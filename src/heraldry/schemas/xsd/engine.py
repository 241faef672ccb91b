"""The validators: xmlschema has the word, libxml2 says yes faster where it can."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import xmlschema
from lxml import etree
from xmlschema.loaders import SchemaLoader
from xmlschema.validators import XsdPatternFacets
from xmlschema.validators.builders import XsdBuilders

from heraldry.errors import SchemaError
from heraldry.schemas.xsd.document import Documents, text
from heraldry.schemas.xsd.pattern import matcher
from heraldry.schemas.xsd.references import XML_NAMESPACE
from heraldry.schemas.xsd.xml import Node

ValidationError = xmlschema.XMLSchemaValidationError


class _LinearPatterns(XsdPatternFacets):
    """Patterns that run in linear time; ``re`` would let a payload stall its reader."""

    def _parse_value(self, elem: Any) -> Any:
        try:
            return matcher(elem.attrib.get("value", ""), self.xsd_version)
        except ValueError as error:
            self.parse_error(str(error), elem)
            return matcher(".*", self.xsd_version)


class _Schema10(xmlschema.XMLSchema10):
    builders = XsdBuilders(None, _LinearPatterns)


class _Schema11(xmlschema.XMLSchema11):
    builders = XsdBuilders(None, _LinearPatterns)


class _CatalogLoader(SchemaLoader):
    """Serves the documents of the catalog, by the text they are referred to, and nothing else."""

    documents: dict[str, bytes]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._loaded: dict[tuple[str, str], Any] = {}

    def load_schema(self, source: Any, namespace: Any = None, *_: Any, **__: Any) -> Any:
        key = (str(source), namespace or "")
        if key not in self._loaded:
            content = self.documents[str(source).partition("#")[0].strip()]
            self._loaded[key] = self.schema_class(
                source=content,
                namespace=namespace,
                validation=self.maps.validation,
                global_maps=self.maps,
                build=False,
            )
        return self._loaded[key]

    def import_namespace(self, schema: Any, namespace: str, location: str | None = None) -> None:
        # The location given has been made a URL: the text of the document is what counts.
        for elem in schema.source.root:
            if elem.get("namespace", "").strip() == namespace and "schemaLocation" in elem.attrib:
                name = elem.get("schemaLocation").partition("#")[0].strip()
                if namespace != XML_NAMESPACE:
                    self.import_schema(schema, namespace, name)


class Engine:
    """One compiled schema; ``schema`` is its component tree."""

    def __init__(self, documents: Documents, version: str) -> None:
        self.version = {"1": "1.0", "1.0": "1.0", "1.1": "1.1"}.get(version, "")
        self.version = self.version or ("1.1" if documents.is_newer else "1.0")
        self.schema = _component_tree(documents, self.version)
        self.has_conditions = documents.has_conditions
        self.keys = documents.keys
        self.list_weight = documents.list_weight
        self.choices = documents.choices
        self._fast = _libxml2(documents) if documents.is_plain else None

    def is_known_valid(self, root: Node) -> bool:
        """Whether the fast validator says yes; where it does not, the other one is to be asked."""
        return self._fast is not None and self._fast(root)

    def errors(self, root: Node, limit: int) -> Iterator[ValidationError]:
        """Why a document is not valid; its root may be any global element."""
        return islice(self.schema.iter_errors(root, use_location_hints=False), limit)


def _component_tree(documents: Documents, version: str) -> Any:
    kind = _Schema11 if version == "1.1" else _Schema10
    contents = {name: text(root) for name, root in documents.others.items()}
    loader = type("Loader", (_CatalogLoader,), {"documents": contents})
    source = documents.source
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return kind(
                text(documents.root),
                loader_class=loader,
                allow="none",
                defuse="always",
                use_fallback=False,
            )
    except SchemaError:
        raise
    except xmlschema.XMLSchemaParseError as error:
        raise SchemaError(source.format, _path(error), error.message.rstrip(":")) from None
    except xmlschema.XMLSchemaException as error:
        told = str(error).partition("\n")[0].rstrip(":")
        raise SchemaError(source.format, "", told) from None
    except RecursionError:
        raise SchemaError(source.format, "", "its parts are nested too deep") from None
    except Exception as error:  # noqa: BLE001
        # The library lets errors of its own through (KeyError, AttributeError, ...): whatever
        # the document is, its reader only has to know that it is no schema.
        told = f"the document is not a valid XML Schema ({type(error).__name__})"
        raise SchemaError(source.format, "", told) from None


def _path(error: xmlschema.XMLSchemaParseError) -> str:
    try:
        return str(error.path or "")
    except (AttributeError, TypeError, ValueError):
        return ""


def _libxml2(documents: Documents) -> Callable[[Node], bool] | None:
    try:
        validator = etree.XMLSchema(documents.root)
    except etree.XMLSchemaParseError:
        return None
    return validator.validate
