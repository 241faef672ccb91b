"""One micro-batch: lines judged and written by the workers, then committed exactly once."""
