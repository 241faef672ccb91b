"""Spark itself: the session, the one streaming query, here or on a Spark Connect server."""
