"""The fast path in Python: whole batches of structured CloudEvents, accepted only."""
