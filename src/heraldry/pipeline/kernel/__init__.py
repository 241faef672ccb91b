"""The compiled fast path: structured CloudEvents straight from their bytes into Arrow columns.

It may only accept, with exactly the row that ``messages.judge`` would give; everything it does not
fully understand is left to ``pipeline.fast``, and then to the judge.
"""
