"""JSON Schema as a payload format."""
