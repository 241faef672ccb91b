"""Documents and payloads made to do harm: each ends quickly, in an error of ours or in success."""

from __future__ import annotations

import zlib

P2, P3 = 'syntax = "proto2"; ', 'syntax = "proto3"; '
MEBIBYTE = 1 << 20


def _number(value: int) -> bytes:
    data = b""
    while value > 127:
        data += bytes([value & 127 | 128])
        value >>= 7
    return data + bytes([value])


def _nested(depth: int) -> bytes:
    data = b""
    for _ in range(depth):
        data = b"\x0a" + _number(len(data)) + data
    return data


def _fan(label: str, width: int, depth: int) -> str:
    """Messages that hold each other in many ways: values of them grow without bounds."""
    fields = (
        " ".join(f"{label} M{level + 1} f{one} = {one};" for one in range(1, width + 1))
        for level in range(depth)
    )
    inner = "".join(f"message M{level} {{ {text} }}\n" for level, text in enumerate(fields))
    return f"{P2} message A {{ {label} M0 m = 1; {inner} message M{depth} {{}} }}"


def _fields(count: int) -> str:
    # The numbers from 19000 to 19999 are not to be used.
    numbers = (one if one < 19_000 else one + 1_001 for one in range(1, count))
    return "".join(f"int32 f{one}={one};" for one in numbers)


def _chain(label: str, length: int) -> str:
    """Messages that hold the next one, and so on."""
    inner = "".join(f"message M{one} {{ {label} M{one + 1} m = 1; }} " for one in range(length))
    return f"{P2} message A {{ {label} M0 m = 1; {inner} message M{length} {{}} }}"


DOCUMENTS: list[tuple[str, bytes | str]] = [
    ("import-http", P3 + 'import "http://127.0.0.1:9/a.proto"; message A {}'),
    ("import-metadata", P3 + 'import "http://169.254.169.254/latest"; message A {}'),
    ("import-file", P3 + 'import "file:///etc/passwd"; message A {}'),
    ("import-absolute", P3 + 'import "/etc/passwd"; message A {}'),
    ("import-above", P3 + 'import "../../../../etc/passwd"; message A {}'),
    ("import-above-well-known", P3 + 'import "google/protobuf/../../x.proto"; message A {}'),
    ("import-escaped", P3 + 'import "\\x2fetc\\x2fpasswd"; message A {}'),
    ("import-of-a-header", P3 + 'import "python3.11/" "Python.h"; message A {}'),
    ("import-joined", P3 + 'import "/etc/" "passwd"; message A {}'),
    ("import-itself", P3 + 'import "schema.proto"; message A {}'),
    ("import-device", P3 + 'import "/dev/zero"; message A {}'),
    ("import-nul", b'syntax = "proto3"; import "a\x00.proto"; message A {}'),
    ("import-many-times", 'import "google/protobuf/any.proto";' * 29_000),
    ("option-of-a-plugin", P3 + 'option (x) = "y"; message A {}'),
    ("nested-messages", P3 + "message A {" * 90_000 + "}" * 90_000),
    ("nested-options", "option (x) = " + "{a:" * 300_000),
    ("nested-maps", P3 + "message A {" + "map<string, " * 80_000),
    ("many-fields", P3 + "message A {" + _fields(30_000) + "}"),
    ("many-messages", P3 + "".join(f"message M{one} {{}}" for one in range(30_000))),
    (
        "many-enum-values",
        P3
        + "message A { E e = 1; } enum E {"
        + "".join(f"E{one}={one};" for one in range(40_000))
        + "}",
    ),
    ("many-ranges", "message A { reserved " + ",".join(map(str, range(1, 140_000))) + "; }"),
    ("many-errors", "x " * 500_000),
    ("comments", "/*" * 500_000),
    ("imports-in-comments", "import/*" * 130_000),
    ("quotes", '"' * 500_000),
    ("too-large", P3 + "//" + "x" * 5 * MEBIBYTE),
    ("huge-number", P3 + f"message A {{ int32 a = {'9' * 100_000}; }}"),
    ("huge-default", P2 + f"message A {{ optional int64 a = 1 [default = {'9' * 100_000}]; }}"),
    ("long-name", P3 + f"message {'A' * 900_000} {{}}"),
    ("nul", b"\x00" * 1000),
    ("not-utf-8", b"\xff\xfe" * 1000),
    ("empty", b""),
    ("endless-message", P2 + "message A { required A a = 1; required A b = 2; }"),
    ("chain", _chain("optional", 8_000)),
    ("required-chain", _chain("required", 8_000)),
    ("wide-fan", _fan("optional", 40, 60)),
    ("required-fan", _fan("required", 2, 60)),
    ("false-timestamp", P3 + "package google.protobuf; message Timestamp { string x = 1; }"),
    ("false-any", P3 + "package google.protobuf; message Any { int32 value = 1; }"),
    ("false-struct", P3 + "package google.protobuf; message Value { Value kind = 1; }"),
]

_TREE = P3 + "message A { A a = 1; repeated A list = 2; }"
_TEXT = P3 + "message A { string a = 1; repeated int32 n = 2; }"
_REQUIRED = P2 + "message A { repeated B b = 1; message B { required int32 x = 1; } }"
_STRUCT = (
    P3 + 'import "google/protobuf/struct.proto"; import "google/protobuf/any.proto";'
    " message A { google.protobuf.Value v = 1; google.protobuf.Any any = 2; }"
)
_TIME = (
    P3 + 'import "google/protobuf/timestamp.proto"; import "google/protobuf/duration.proto";'
    " message A { google.protobuf.Timestamp t = 1; google.protobuf.Duration d = 2; }"
)
_JSON = "application/json"

PAYLOADS: list[tuple[str, bytes | str, bytes, str | None]] = [
    ("nested", _TREE, _nested(20_000), None),
    ("nested-json", _TREE, b'{"a":' * 50_000, _JSON),
    ("nested-json-closed", _TREE, b'{"a":' * 190 + b"{}" + b"}" * 190, _JSON),
    ("nested-groups", _TREE, b"\x0b" * 100_000, None),
    ("nested-unknown-groups", _TEXT, b"\x7b" * 100_000 + b"\x7c" * 100_000, None),
    ("length-beyond-the-end", _TEXT, b"\x0a\xff\xff\xff\xff\x07", None),
    ("negative-length", _TEXT, b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", None),
    ("endless-varint", _TEXT, b"\xff" * 100_000, None),
    ("field-zero", _TEXT, b"\x00" * 100_000, None),
    ("not-utf-8", _TEXT, b"\x0a\x02\xff\xfe", None),
    ("not-utf-8-proto2", P2 + "message A { optional string a = 1; }", b"\x0a\x01\xff", None),
    (
        "not-utf-8-key",
        P2 + "message A { map<string, int32> a = 1; }",
        b"\x0a\x03\x0a\x01\xff",
        None,
    ),
    ("many-items", _TREE, b"\x12\x00" * 100_000, None),
    ("many-that-lack", _REQUIRED, b"\x0a\x00" * 1_000_000, None),
    ("packed", _TEXT, b"\x12" + _number(MEBIBYTE) + b"\x01" * MEBIBYTE, None),
    ("huge-number-json", _TEXT, b'{"n":[' + b"9" * 1_000_000 + b"]}", _JSON),
    ("huge-exponent-json", _TEXT, b'{"n":[1e999999999]}', _JSON),
    ("number-text-json", _TEXT, b'{"n":["' + b"9" * 1_000_000 + b'"]}', _JSON),
    (
        "many-unknown-json",
        _TEXT,
        b"{" + b",".join(b'"u%d":1' % i for i in range(90_000)) + b"}",
        _JSON,
    ),
    ("nested-value", _STRUCT, b'{"v":' + b"[" * 150 + b"]" * 150 + b"}", _JSON),
    (
        "any-in-any",
        _STRUCT,
        b'{"any":' + b'{"@type":"x/google.protobuf.Any","value":' * 90 + b"{}" + b"}" * 90 + b"}",
        _JSON,
    ),
    ("any-of-nothing", _STRUCT, b'{"any":{"@type":"file:///etc/passwd","value":{}}}', _JSON),
    ("timestamp-beyond", _TIME, b"\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x10\x01", None),
    ("timestamp-nanos", _TIME, b"\x0a\x06\x10\xff\xff\xff\xff\x07", None),
    ("duration-text", _TIME, b'{"d":"' + b"9" * 1_000_000 + b's"}', _JSON),
    ("timestamp-text", _TIME, b'{"t":"' + b"9" * 1_000_000 + b'Z"}', _JSON),
    ("glue-bomb", _TEXT, b"\x03\x05" + b"i" * 16 + zlib.compress(b"\x00" * 40_000_000), None),
    ("confluent-indexes", _TEXT, b"\x00\x00\x00\x00\x01\x06" + b"\xff" * 100_000, None),
    ("confluent-empty", _TEXT, b"\x00\x00\x00\x00\x01", None),
]
