"""The demo's stream: a day of luggage at a few airports, the same for the same seed.

Most messages are good; about three in a hundred carry one of the flaws of
:mod:`heraldry.cli.demo_flaws`, as real streams do.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import IO, Any

import msgspec

from heraldry.cli.demo_flaws import flawed

Json = dict[str, Any]

FLAWED = 0.03
"""The share of messages with a flaw."""

_START = datetime(2026, 6, 1, 4, 0, tzinfo=UTC)
_TYPE = "org.example.airport.luggage."
_AIRPORTS = ("MUC", "FRA", "LIS", "OSL", "YUL", "NRT")
_CARRIERS = ("LH", "TP", "SK", "AC", "NH", "4Y")
_NAMES = ("Amara Okafor", "Jürgen Weiß", "Inês Carvalho", "渡辺 由美", "Liv Berg", "Zoë O'Neill")
_SPECIAL = ("sports", "stroller", "wheelchair", "pet", "oversize")
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """What was written: the files, and how many messages and bytes they hold."""

    folder: str
    files: int
    messages: int
    bytes: int


@dataclass(frozen=True, slots=True)
class _Bag:
    tag: str
    airport: str
    flight: Json
    weight: float


class Day:
    """One day at the airports: every call of :meth:`message` is the next thing that happens."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self._now = _START
        self._number = 0
        self._bags: list[_Bag] = []
        self._sequences: dict[str, int] = {}

    def message(self) -> Json:
        """The next message, as the object that stands in its line."""
        self._number += 1
        self._now += timedelta(milliseconds=self.random.randrange(40, 900))
        chance = self.random.random()
        if chance < 0.24 or not self._bags:
            return self._checkedin()
        for limit, make in _KINDS:
            if chance < limit:
                return make(self)
        return self._reading()

    def _moment(self) -> str:
        return self._now.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def _pick(self) -> _Bag:
        return self._bags[self.random.randrange(len(self._bags))]

    def _flight(self) -> Json:
        return {
            "carrier": self.random.choice(_CARRIERS),
            "number": self.random.randrange(1, 9999),
            "date": self._now.date().isoformat(),
        }

    def _new_bag(self) -> _Bag:
        random = self.random
        tag = f"{random.randrange(10**9, 10**10)}"
        weight = round(min(max(random.gauss(17, 6), 0.8), 45), 1)
        bag = _Bag(tag, random.choice(_AIRPORTS), self._flight(), weight)
        self._bags.append(bag)
        if len(self._bags) > 4000:
            # Old bags have long been delivered; forgetting them keeps the picks recent.
            del self._bags[:2000]
        return bag

    def _event(self, kind: str, source: str, bag: _Bag, data: Json) -> Json:
        return {
            "specversion": "1.0",
            "type": _TYPE + kind,
            "source": source,
            "id": f"{self._number:08x}",
            "subject": f"BAG-{bag.tag}",
            "time": self._moment(),
            "datacontenttype": "application/json",
            "data": data,
        }

    def _checkedin(self) -> Json:
        random, bag = self.random, self._new_bag()
        data: Json = {
            "tag": bag.tag,
            "passenger": {"name": random.choice(_NAMES)},
            "flight": bag.flight,
            "weight": bag.weight,
            "pieces": 1 + int(random.random() * random.random() * 5),
            "cabin": random.choices(("economy", "business", "first"), (80, 17, 3))[0],
            "checkedinat": self._moment(),
        }
        if random.random() < 0.3:
            data["passenger"]["frequentflyer"] = f"{bag.flight['carrier']}{random.randrange(10**8)}"
        if random.random() < 0.1:
            data["fragile"] = True
            data["special"] = random.sample(_SPECIAL, random.randrange(1, 3))
        if random.random() < 0.4:
            there = random.choice(_AIRPORTS)
            data["route"] = [{"airport": there, "date": bag.flight["date"]}]
        source = f"/airports/{bag.airport}/counters/{random.randrange(100, 180)}"
        return self._event("checkedin", source, bag, data)

    def _loaded_data(self, bag: _Bag) -> Json:
        random = self.random
        container = f"AKE{random.randrange(10000, 99999)}{bag.flight['carrier']}"
        position = {
            "hold": random.randrange(1, 6),
            "container": container if random.random() < 0.7 else None,
        }
        return {
            "tag": bag.tag,
            "flight": bag.flight,
            "position": position,
            "loadedat": self._moment(),
            "weight": bag.weight,
        }

    def _loaded(self) -> Json:
        bag = self._pick()
        source = f"/airports/{bag.airport}/belts/{self.random.randrange(1, 25)}"
        return self._event("loaded", source, bag, self._loaded_data(bag))

    def _scanned(self) -> Json:
        bag = self._pick()
        scanner = f"hs-{self.random.randrange(1, 60):03}"
        source = f"/airports/{bag.airport}/scanners/{scanner}"
        event = self._event("loaded", source, bag, self._loaded_data(bag))
        data = event.pop("data")
        content_type = event.pop("datacontenttype")
        return {
            "protocol": "MQTT/5.0",
            "metadata": {
                "topic_name": f"airports/{bag.airport}/scanners/{scanner}/loaded",
                "qos": 1,
                "content_type": content_type,
                "user_properties": [{"name": k, "value": v} for k, v in event.items()],
            },
            "payload": data,
        }

    def _unloaded(self) -> Json:
        random, bag = self.random, self._pick()
        condition = random.choices(("good", "wet", "damaged", "open"), (94, 3, 2, 1))[0]
        data: Json = {
            "tag": bag.tag,
            "flight": bag.flight,
            "condition": condition,
            "unloadedat": self._moment(),
            "transfer": random.random() < 0.2,
        }
        if condition != "good":
            data["photos"] = [f"https://photos.airport.example/{bag.tag}/1.jpg"]
        source = f"/airports/{bag.airport}/belts/{random.randrange(1, 25)}"
        event = self._event("unloaded", source, bag, data)
        del event["data"], event["datacontenttype"]
        headers = {f"ce_{name}": value for name, value in event.items()}
        headers["content-type"] = "application/json"
        metadata = {
            "topic": "luggage",
            "partition": int(bag.tag) % 12,
            "key": bag.tag,
            "headers": headers,
        }
        return {"protocol": "KAFKA", "metadata": metadata, "payload": data}

    def _delivered(self) -> Json:
        random, bag = self.random, self._pick()
        to = random.choices(("carousel", "hotel", "transfer-desk", "lost-luggage"), (90, 4, 4, 2))[
            0
        ]
        data: Json = {
            "tag": bag.tag,
            "to": to,
            "carousel": random.randrange(1, 41) if to == "carousel" else None,
            "waited": max(int(random.gauss(1500, 400)), 0),
            "deliveredat": self._moment(),
        }
        source = f"/airports/{bag.airport}/claims/{random.randrange(1, 9)}"
        event = self._event("delivered", source, bag, data)
        del event["data"], event["datacontenttype"]
        headers = [{"name": f"ce-{name}", "value": value} for name, value in event.items()]
        headers.append({"name": "content-type", "value": "application/json"})
        metadata = {"method": "POST", "path": "/events", "headers": headers}
        return {"protocol": "HTTP/1.1", "metadata": metadata, "payload": data}

    def _native(self, kind: str, qos: int, data: Json, belt: str) -> Json:
        metadata = {
            "topic_name": f"airports/{belt}/{kind}",
            "qos": qos,
            "retain": False,
            "content_type": "application/json",
        }
        return {"protocol": "MQTT/5.0", "metadata": metadata, "payload": data}

    def _belt(self) -> str:
        return f"{self.random.choice(_AIRPORTS)}/belts/{self.random.randrange(1, 25)}"

    def _reading(self) -> Json:
        random, belt = self.random, self._belt()
        sequence = self._sequences[belt] = self._sequences.get(belt, 7_000_000_000) + 1
        data: Json = {
            "at": self._moment(),
            "sequence": sequence,
            "speed": round(random.uniform(0, 2.5), 3),
            "load": round(random.uniform(0, 100), 1),
            "temperature": round(random.gauss(31, 6), 1),
        }
        if random.random() < 0.5:
            data["motors"] = [
                {
                    "id": name,
                    "current": round(random.uniform(1, 9), 2),
                    "hot": random.random() < 0.02,
                }
                for name in ("drive", "merge")
            ]
        return self._native("readings", 0, data, belt)

    def _jam(self) -> Json:
        random = self.random
        data = {
            "at": self._moment(),
            "zone": random.randrange(1, 65),
            "severity": random.choice(("minor", "minor", "major", "stopped")),
            "bags": [self._pick().tag for _ in range(random.randrange(4))],
            "cleared": random.random() < 0.5,
        }
        return self._native("jams", 1, data, self._belt())


_KINDS: tuple[tuple[float, Callable[[Day], Json]], ...] = (
    (0.36, Day._loaded),
    (0.41, Day._scanned),
    (0.47, Day._unloaded),
    (0.52, Day._delivered),
    (0.54, Day._jam),
)
"""What happens, by cumulated probability; the rest are readings."""


def lines(count: int, seed: int) -> Iterator[bytes]:
    """So many messages as lines without their line end."""
    day = Day(seed)
    for _ in range(count):
        message = day.message()
        if day.random.random() < FLAWED:
            yield flawed(message, day.random)
        else:
            yield _encode(message)


def write(folder: Path, count: int, seed: int, files: int = 12) -> Stream:
    """Write the stream in some files, every third of them compressed."""
    folder.mkdir(parents=True, exist_ok=True)
    stream = lines(count, seed)
    size = 0
    for number in range(files):
        share = count * (number + 1) // files - count * number // files
        path = folder / f"luggage-{number + 1:02}.jsonl{'.gz' if number % 3 == 2 else ''}"
        with _create(path) as file:
            for _ in range(share):
                size += file.write(next(stream)) + file.write(b"\n")
    return Stream(folder=str(folder), files=files, messages=count, bytes=size)


def _create(path: Path) -> IO[bytes]:
    # mtime=0: the same seed gives the same bytes, compressed or not.
    if path.suffix == ".gz":
        return gzip.GzipFile(path, "wb", compresslevel=1, mtime=0)  # type: ignore[return-value]
    return path.open("wb")
