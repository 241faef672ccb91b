"""XML Schema as a payload format."""
