"""Envelopes: metadata conventions that travel on any protocol."""
