"""Where messages come from: one module per kind of source."""
