"""Dead letters: what did not land and why, masked, selected, exported, and what became of it."""
