"""The registry: every rule of the xRegistry specification, without a web framework."""
