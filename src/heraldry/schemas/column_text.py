"""Column types as text: ``decimal(38,18)``, ``list<struct<sku:string,count:integer>>``."""

from __future__ import annotations

from heraldry.schemas.columns import ColumnType, Fixed, ListOf, MapOf, Scalar, Struct


def type_text(kind: ColumnType) -> str:
    """The type of a column in one short text; nullability is not part of it."""
    match kind:
        case Scalar(name):
            return name
        case Fixed(precision, scale):
            return f"decimal({precision},{scale})"
        case ListOf(item):
            return f"list<{type_text(item.type)}>"
        case MapOf(value):
            return f"map<string,{type_text(value.type)}>"
        case Struct(fields):
            inside = ",".join(f"{field.name}:{type_text(field.type)}" for field in fields)
            return f"struct<{inside}>"
