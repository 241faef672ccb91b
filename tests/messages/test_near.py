"""Near misses: what is nearly right is named, what is far off is not."""

from __future__ import annotations

from typing import Any

import pytest

from heraldry.messages.catalog import MessageCatalog
from heraldry.messages.verdict import NoMatch
from tests.messages.airport import catalog_of


def topics(*names: str, **options: Any) -> MessageCatalog:
    """A catalog of definitions whose rules are a topic, and the same options for all."""
    every = {
        f"m{place}": {"protocol": "MQTT/5.0", "protocoloptions": {"topic_name": name, **options}}
        for place, name in enumerate(names)
    }
    return catalog_of(**every)


def near(catalog: MessageCatalog, topic: str, **metadata: Any) -> list[tuple[str, float]]:
    found = catalog.match(
        {"protocol": "MQTT/5.0", "metadata": {"topic_name": topic, "qos": 1, **metadata}}
    )
    assert isinstance(found, NoMatch)
    return [(one.definition.rpartition("/")[2], one.score) for one in found.near]


@pytest.mark.parametrize(
    ("declared", "topic"),
    [
        pytest.param("belts/{belt}/stopped", "belt/7/stopped", id="a letter less"),
        pytest.param("belts/{belt}/stopped", "Belts/7/Stopped", id="case"),
        pytest.param("belts/{belt}/stopped", "belts/7/stopped/", id="a segment more"),
        pytest.param("belts/{belt}/stopped", "belts/stopped", id="a segment less"),
        pytest.param("alarms", "alarm", id="constant"),
        pytest.param("alarms", "larms", id="another start"),
    ],
)
def test_a_topic_that_is_slightly_off_names_its_definition(declared: str, topic: str) -> None:
    assert near(topics(declared), topic) == [("m0", 0.0)]


def test_a_topic_that_is_far_off_names_none() -> None:
    catalog = topics("belts/{belt}/stopped", "gates/{gate}")
    assert near(catalog, "weather/rain") == []
    found = catalog.match({"protocol": "MQTT/5.0", "metadata": {"topic_name": "weather/rain"}})
    assert [(one.path, one.rule) for one in found.problems] == [("metadata.topic_name", "unknown")]


def test_of_equal_scores_the_value_that_is_most_alike_comes_first() -> None:
    catalog = topics("shops/{shop}/door", "shops/{shop}/humidity", "shops/{shop}/heat", qos=1)
    assert near(catalog, "shop/7/humidity")[0] == ("m1", 0.5)


def test_among_many_the_one_that_shares_a_rare_word_is_found() -> None:
    kinds = [f"kind{number:03}" for number in range(300)]
    catalog = topics(*(f"shops/{{shop}}/{kind}" for kind in kinds))
    assert near(catalog, "shop/7/kind123") == [("m123", 0.0)]
