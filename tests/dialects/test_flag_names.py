from __future__ import annotations

import pytest

from heraldry.dialects.xreg_1_0.flag_names import IGNORED_BY_NAME


@pytest.mark.covers("FL-44")
def test_older_flags_name_what_they_ignore() -> None:
    assert IGNORED_BY_NAME == {
        "noepoch": "epoch",
        "nodefaultversionid": "defaultversionid",
        "nodefaultversionsticky": "defaultversionsticky",
        "noreadonly": "readonly",
        "ignoreepoch": "epoch",
        "ignoredefaultversionid": "defaultversionid",
        "ignoredefaultversionsticky": "defaultversionsticky",
        "ignorereadonly": "readonly",
    }
