"""Where a registry keeps its entities: a SQLite file or PostgreSQL, behind one small protocol."""
