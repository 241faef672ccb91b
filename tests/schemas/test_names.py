"""Column names: legal, unique ignoring case, the later one numbered."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heraldry.schemas.names import legal_names


@pytest.mark.parametrize(
    ("keys", "names"),
    [
        pytest.param(["weight", "Größe"], ["weight", "Größe"], id="good names stay"),
        pytest.param(["a b", "c;d", "e=f"], ["a_b", "c_d", "e_f"], id="illegal characters"),
        pytest.param(["a.b", "x\ty", "p\x00q"], ["a_b", "x_y", "p_q"], id="dots and controls"),
        pytest.param(["{x}", "(y)", "1,2"], ["_x_", "_y_", "1_2"], id="brackets"),
        pytest.param(["", " "], ["_", "__2"], id="empty"),
        pytest.param(["Id", "id", "ID"], ["Id", "id_2", "ID_3"], id="case is ignored"),
        pytest.param(
            ["a", "a_2", "A"], ["a", "a_2", "A_3"], id="a number that is taken is skipped"
        ),
        pytest.param(["a b", "a_b"], ["a_b", "a_b_2"], id="made equal by replacing"),
        pytest.param(["straße", "STRASSE"], ["straße", "STRASSE_2"], id="case beyond ASCII"),
    ],
)
def test_legal_names(keys, names):
    assert legal_names(keys) == tuple(names)


@given(st.lists(st.text()))
def test_names_are_always_legal_and_unique(keys):
    names = legal_names(keys)
    assert len(names) == len(keys)
    assert len({name.lower() for name in names}) == len({name.upper() for name in names})
    assert len({name.lower() for name in names}) == len(names)
    assert not any(re.search(r"[ ,;{}()\n\t=.]", name) or not name for name in names)
    for name in names:
        name.encode("utf-8")
