"""Payload schemas: one module per format; see formats.compile."""
