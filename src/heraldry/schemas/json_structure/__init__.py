"""JSON Structure as a payload format."""
