"""Whether a batch may be cut into as few parts as there are cores at the moment."""

from __future__ import annotations

import pytest
from pyspark import SparkConf

from heraldry.pipeline.job import is_elastic

ON = ("spark.dynamicAllocation.enabled", "true")


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        pytest.param([], False, id="nothing told"),
        pytest.param([("spark.master", "spark://host:7077")], False, id="a cluster"),
        pytest.param([("spark.master", "yarn"), ON], True, id="a cluster that grows"),
        pytest.param([("spark.master", "yarn"), (ON[0], " TRUE ")], True, id="as Spark reads it"),
        pytest.param([("spark.master", "yarn"), (ON[0], "false")], False, id="switched off"),
        pytest.param([("spark.master", "local[2]"), ON], False, id="this machine"),
    ],
)
def test_which_cluster_grows(told: list[tuple[str, str]], expected: bool) -> None:
    assert is_elastic(SparkConf(loadDefaults=False).setAll(told)) is expected
