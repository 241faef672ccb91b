"""Transports: the real clients, one module per protocol, set up from an endpoint definition."""
