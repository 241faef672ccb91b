"""Lines that a fast reader is likely to get wrong, each with a name."""

from __future__ import annotations

from typing import Any

from tests.pipeline.kernel.agreement import line
from tests.suites.flawed_lines import DEEP, DEEPER, INSTANTS, NUMBERS, TEXTS

ORDER: dict[str, Any] = {
    "type": "object",
    "required": ["id", "status", "qty", "price", "ts"],
    "properties": {
        "id": {"type": "string", "minLength": 1},
        "customer": {"type": ["string", "null"]},
        "status": {"enum": ["new", "paid", "é", "a b"]},
        "qty": {"type": "integer", "minimum": 0, "maximum": 1000},
        "price": {"type": "number", "minimum": 0},
        "ts": {"type": "string", "format": "date-time"},
        "express": {"type": "boolean"},
        "address": {
            "type": "object",
            "required": ["street"],
            "properties": {
                "street": {"type": "string"},
                "zip": {"type": "string", "maxLength": 10},
                "at": {"type": "string", "format": "date-time"},
            },
        },
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["sku"],
                "properties": {"sku": {"type": "string"}, "qty": {"type": "integer"}},
            },
        },
        "x": {"type": "integer"},
        "y": {"type": "number"},
    },
}
GOOD = (
    '{"id":"o1","customer":"c","status":"new","qty":5,"price":1.25,"ts":"2026-11-15T12:00:01Z",'
    '"express":true,"address":{"street":"s","zip":"12345"},"items":[{"sku":"a","qty":1}],"x":7}'
)
ATTRIBUTES = {
    "source": {"value": "/stores/{store}/desks/{desk}"},
    "subject": {"value": "{store}-{order}"},
}
MORE = ',"subject":"7-o1","time":"2026-11-15T12:00:01.5Z","datacontenttype":"application/json"'
ITEM = '{"sku":"a","qty":1}'


def full(data: str = GOOD, more: str = MORE) -> bytes:
    return line("order", data, more).replace(b'"/s"', b'"/stores/7/desks/3"')


def put(old: str, new: str) -> bytes:
    assert GOOD.count(old) == 1, old
    return full(GOOD.replace(old, new))


def head(old: str, new: str) -> bytes:
    assert full().count(old.encode()) == 1, old
    return full().replace(old.encode(), new.encode("utf-8", "surrogatepass"))


WHOLE = [
    "5.0",
    "5.5",
    "5e0",
    "50E-1",
    "-0",
    "-1",
    "05",
    "+5",
    "5.",
    "0x5",
    ".5",
    "1000",
    "1001",
    "1e3",
    "null",
    "true",
    '"5"',
    "[]",
    "{}",
    "NaN",
    "-",
    "5 5",
    "5\x00",
    "0.0",
    "-0.0",
    "9" * 20,
]
LARGE = [
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "1" * 40,
    "7.0",
    "999999999999999999",
    "1000000000000000000",
    "-999999999999999999",
    "1" * 19,
]
REAL = [
    "0",
    "-0",
    "-0.0",
    "-0e0",
    "1e308",
    "1e309",
    "1e-400",
    "123456789.123456789",
    "0.1",
    "0.30000000000000004",
    "9007199254740993",
    "9007199254740992",
    "4.35",
    "1e22",
    "1e23",
    "8.5e-22",
    "9007199254740992e22",
    "00.1",
    "1.e5",
    "1e",
    "1e+",
    '"1"',
    "5e-324",
    "1E5",
    "1e+5",
    "-1e-400",
    "0.000000000000000000001",
    "1e0000000000000005",
    "-",
    "-.5",
]
STRINGS = [
    '""',
    r'"\u0041"',
    r'"\ud800"',
    r'"\ud83d\ude00"',
    r'"a\nb"',
    '"a\nb"',
    r'"\x"',
    '"é"',
    '"日本"',
    r'"\""',
    r'"a\"b\\"',
    '"\x7f"',
    '"\x00"',
    r'"\u0000"',
    "1",
    "null",
    '"',
    '"\\',
    r'"\/\b\f\n\r\t"',
    r'"\\\\\\\\\\\\"',
    '"\ud800"',
    '"12345678\\"90"',
]
ZIPS = [
    '"1234567890"',
    '"12345678901"',
    '"éééééééééé"',
    '"ééééééééééé"',
    '"' + "😀" * 10 + '"',
    '"' + "😀" * 11 + '"',
    '"' + r"\t" * 10 + '"',
    '"' + r"\t" * 11 + '"',
]
TIMES = [
    "2026-11-15T",
    "2026-11-15",
    "2026-13-15T12:00:01Z",
    "2026-02-29T12:00:01Z",
    "2024-02-29T12:00:01Z",
    "1900-02-29T12:00:01Z",
    "2000-02-29T12:00:01Z",
    "2026-11-15T12:00:60Z",
    "2026-11-15T24:00:00Z",
    "2026-11-15T12:60:00Z",
    "2026-11-15T12:00:01.5Z",
    "2026-11-15T12:00:01.123456Z",
    "2026-11-15T12:00:01.1234567Z",
    "2026-11-15T12:00:01.Z",
    "2026-11-15T12:00:01+01:00",
    "2026-11-15t12:00:01z",
    "٢٠٢٦-11-15T12:00:01Z",
    "x2026-11-15T12:00:01Z",
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00Z",
    "1969-12-31T23:59:59Z",
    "1969-12-31T23:59:59.999999Z",
    "9999-12-31T23:59:59Z",
    r"2026-11-15T12:00:01Z\n",
    "2026-04-31T00:00:00Z",
    "2026-00-10T00:00:00Z",
    "2026-01-00T00:00:00Z",
    "2026-11-15T12:00:01 Z",
]
EXTRA = [
    '{"a":[1]}',
    r'"\q"',
    r'"\ud800"',
    "1e999",
    "-",
    "01",
    "tru",
    "nul",
    "falsy",
    "1e280",
    "9" * 30,
    "[" * 2000 + "]" * 2000,
    "null",
    "true",
    "false",
    "1.5",
    '"s"',
    "",
    DEEP,
    DEEPER,
]
ADVERSARIAL: dict[str, bytes] = {
    "good": full(),
    "spaces around": b" " + full() + b" \n\t\r",
    "spaces inside": full(GOOD.replace(":", " : ").replace(",", "\n,\t")),
    "spaces in the envelope": full().replace(b',"', b' ,\n "').replace(b'":', b'"\t: '),
    "two documents": full() * 2,
    "two documents on two lines": full() + b"\n" + full(),
    "last bracket missing": full()[:-1],
    "both brackets missing": full()[:-2],
    "bracket too many": full() + b"}",
    "comma behind": full() + b",",
    "nul behind": full() + b"\x00",
    "bom": b"\xef\xbb\xbf" + full(),
    "empty": b"",
    "space": b" ",
    **{f"whole {text}": text.encode() for text in ("null", "[]", "{}", "1", '"x"', "{", '{"')},
    **{f"cut at {n}": full()[:n] for n in range(1, len(full()))},
    **{f"data {text}": full(text) for text in ("null", "[]", "{}", "1", '"x"', "{", "")},
    **{f"qty {text}": put('"qty":5', f'"qty":{text}') for text in (*WHOLE, *NUMBERS)},
    **{f"x {text}": put('"x":7', f'"x":{text}') for text in (*LARGE, *WHOLE, *NUMBERS)},
    **{f"price {text}": put('"price":1.25', f'"price":{text}') for text in (*REAL, *NUMBERS)},
    **{f"y {text}": put('"x":7', f'"y":{text}') for text in (*REAL, *NUMBERS)},
    **{f"id {text}": put('"id":"o1"', f'"id":{text}') for text in (*STRINGS, *TEXTS)},
    **{f"zip {text}": put('"zip":"12345"', f'"zip":{text}') for text in (*ZIPS, *TEXTS)},
    **{
        f"ts {text}": put('"ts":"2026-11-15T12:00:01Z"', f'"ts":"{text}"')
        for text in (*TIMES, *INSTANTS)
    },
    **{f"inner at {text}": put('"zip"', f'"at":"{text}","zip"') for text in (*TIMES, *INSTANTS)},
    **{
        f"time {text}": head("2026-11-15T12:00:01.5Z", text)
        for text in (*TIMES, *INSTANTS)
        if text.isprintable()
    },
    **{f"extra {text[:20]}": put('"x":7', f'"x":7,"extra":{text}') for text in EXTRA},
    "extra without a name": put('"x":7', '"x":7,"":null'),
    "extra escaped": put('"x":7', r'"x":7,"e\u0078tra":1'),
    **{
        f"status {text}": put('"status":"new"', f'"status":{text}')
        for text in ('"New"', r'"ne\u0077"', "null", '"new "', '"é"', '"a b"', r'"\n"', '"ne"')
    },
    **{
        f"customer {text}": put('"customer":"c"', f'"customer":{text}')
        for text in ("null", "5", "nul", "nulll", '""')
    },
    **{
        f"express {text}": put('"express":true', f'"express":{text}')
        for text in ("false", "tru", "truee", "null", "1", '"true"', "False")
    },
    "customer missing": put('"customer":"c",', ""),
    "status missing": put('"status":"new",', ""),
    **{
        f"items {text[:30]}": put(f"[{ITEM}]", text)
        for text in (
            "[]",
            "null",
            f"[,{ITEM}]",
            f"[{ITEM},]",
            f"[{ITEM}]]",
            f"[{ITEM} {ITEM}]",
            "[null]",
            '[{"sku":"a",}]',
            '[{"qty":1}]',
            f"[5,{ITEM}]",
            f"[{','.join([ITEM] * 3000)}]",
            f"{{{ITEM}}}",
            f"[[{ITEM}]]",
            f"[{ITEM}}}",
            '[{"sku":"a","sku":"b"}]',
            "[{}]",
            "[ ]",
        )
    },
    "qty twice": put('"qty":5', '"qty":5,"qty":6'),
    "qty twice, first wrong": put('"qty":5', '"qty":"x","qty":6'),
    "qty twice, last wrong": put('"qty":5', '"qty":6,"qty":"x"'),
    "qty twice, once escaped": put('"qty":5', r'"qty":5,"q\u0074y":"x"'),
    "comma last": put('"x":7', '"x":7,'),
    "comma first": put('{"id"', '{,"id"'),
    "no colon": put('"x":7', '"x" 7'),
    "no quotes": put('"x":7', "x:7"),
    "other quotes": put('"x":7', "'x':7"),
    "comment": put('"x":7', '"x":7/*c*/'),
    "address null": put('{"street":"s","zip":"12345"}', "null"),
    "address list": put('{"street":"s","zip":"12345"}', "[]"),
    "address empty": put('{"street":"s","zip":"12345"}', "{}"),
    "street only": put(',"zip":"12345"', ""),
    "more in address": put('"street":"s"', '"street":"s","more":1'),
    "not utf-8": put('"o1"', '"@"').replace(b"@", b"\xff"),
    "overlong": put('"o1"', '"@"').replace(b"@", b"\xc0\x80"),
    "surrogate": put('"o1"', '"@"').replace(b"@", b"\xed\xa0\x80"),
    "not utf-8 in extra": put('"x":7', '"x":7,"u":"@"').replace(b"@", b"\xff"),
    "not utf-8 in a name": put('"x":7', '"x":7,"@":1').replace(b"@", b"\xff"),
    **{
        f"specversion {text}": head('"1.0"', text)
        for text in ('"1.1"', "1.0", '"1.0 "', '""', "null")
    },
    **{f"event id {text}": head('"id":"1"', f'"id":{text}') for text in STRINGS},
    **{
        f"content type {text}": head('"application/json"', text)
        for text in ('"application/JSON"', '"text/plain"', "null", '""', '"application/json;a=b"')
    },
    **{
        f"subject {text}": head('"7-o1"', f'"{text}"')
        for text in (
            "7-",
            "-o1",
            "8-o1",
            "7-o-1",
            "7--",
            "7%2Do1",
            "7-%41",
            "7",
            "",
            "77-o1",
            "7-é",
            "é-o",
        )
    },
    **{
        f"source {text}": head('"/stores/7/desks/3"', f'"{text}"')
        for text in (
            "/stores/7/desks/",
            "/stores//desks/3",
            "/stores/7/desks/3/desks/4",
            "/stores/7",
            "/stores/7/desks",
            "stores/7/desks/3",
            "/stores/7%20/desks/3",
            "",
            "/stores//desks/7/desks/3",
            "/stores/é/desks/é",
        )
    },
    **{
        f"with {more}": full(more=MORE + more)
        for more in (
            ',"ext":"a"',
            ',"data_base64":"e30="',
            ',"protocol":null',
            ',"metadata":{}',
            ',"id":"2"',
            ',"dataschema":"urn:a"',
            ',"dataschema":"a b"',
            ',"dataschema":""',
            ',"dataschema":null',
            ',"Time":"a"',
            ',"data":{}',
            r',"\u0069d":"2"',
            ',"":""',
            ",",
            ',"typ":"a"',
            ',"type2":"a"',
        )
    },
    "no subject": full(more=""),
    "data first": b'{"data":' + GOOD.encode() + b"," + full("{}")[1:].replace(b',"data":{}', b""),
    "data alone": b'{"data":' + GOOD.encode() + b"}",
    "too long": put('"id":"o1"', f'"id":"{"x" * (16 * 1024 * 1024)}"'),
}
