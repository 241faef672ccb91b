"""The runtime: messages built from definitions, and recognised by them."""
