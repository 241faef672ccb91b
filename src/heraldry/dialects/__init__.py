"""Dialects: one package per generation of the specification, and the way in and out."""
