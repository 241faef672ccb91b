"""A follower that is closed while another thread still looks lets go of what the look opened."""

from __future__ import annotations

from pathlib import Path

from heraldry.client.catalog_follower import CatalogFollower
from heraldry.client.registry_catalog import Catalogs
from tests.cli.served import serving
from tests.conftest import ROOT


def test_a_look_that_ends_after_the_close_leaves_no_connection(tmp_path: Path) -> None:
    orders = ROOT / "examples" / "orders" / "orders.xreg.json"
    with serving(tmp_path, "--import", str(orders)) as served:
        follower = CatalogFollower(Catalogs(cache=tmp_path / "cache"), [served.url])
        assert follower.look().catalog is not None
        follower.close()
        assert follower.look().catalog is None
        (place,) = follower._places
        assert getattr(place, "client")._client is None  # noqa: B009
