"""Apache Avro as a payload format."""
