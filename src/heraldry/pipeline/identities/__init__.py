"""Messages told apart by identity, so that what comes again lands once."""
