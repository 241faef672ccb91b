"""Protocols: one module each with the same names; none knows a client library."""
