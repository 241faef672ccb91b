"""Protocol Buffers as a payload format."""
