"""The HTTP binding of the registry."""
