"""The Spark session: what is said when it does not start."""

from __future__ import annotations

import pytest

from heraldry.pipeline.session import _why


@pytest.mark.parametrize(
    ("java", "expected"),
    [("", "Java 17 or later was not found"), ("/some/java", "with the master 'nonsense'")],
    ids=["no Java", "Java refused"],
)
def test_a_jvm_that_ends_at_once(monkeypatch: pytest.MonkeyPatch, java: str, expected: str) -> None:
    monkeypatch.setenv("JAVA_HOME", java)
    monkeypatch.setenv("PATH", "")
    assert expected in _why(RuntimeError("[JAVA_GATEWAY_EXITED] ..."), "nonsense")


def test_other_errors_speak_for_themselves() -> None:
    assert _why(RuntimeError("no more memory"), "local[2]") == "no more memory"
