CREATE TABLE counter (
    revision INTEGER NOT NULL,
    entity INTEGER NOT NULL,
    document INTEGER NOT NULL,
    change INTEGER NOT NULL,
    path INTEGER NOT NULL,
    stamp INTEGER NOT NULL
) STRICT;
INSERT INTO counter VALUES (0, 0, 0, 0, 0, 0);

CREATE TABLE state (one INTEGER PRIMARY KEY CHECK (one = 1), content BLOB NOT NULL) STRICT;

CREATE TABLE entity (
    key INTEGER PRIMARY KEY,
    parent INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    type TEXT NOT NULL,
    xid TEXT NOT NULL,
    folded TEXT NOT NULL,
    id TEXT NOT NULL,
    place TEXT NOT NULL,
    attributes BLOB NOT NULL,
    chosen INTEGER NOT NULL,
    xref TEXT NOT NULL,
    document INTEGER NOT NULL,
    borrowed INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX entity_xid ON entity (folded);
CREATE INDEX entity_child ON entity (parent, type, place);
CREATE INDEX entity_type ON entity (type, key);
CREATE INDEX entity_xref ON entity (xref) WHERE xref <> '';

CREATE TABLE path (
    number INTEGER PRIMARY KEY,
    type TEXT NOT NULL,
    mark TEXT NOT NULL,
    steps TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX path_mark ON path (type, mark);

CREATE TABLE fact (
    key INTEGER NOT NULL,
    path INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    text TEXT NOT NULL,
    rest TEXT NOT NULL,
    number ANY,
    PRIMARY KEY (key, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX fact_text ON fact (path, kind, text);
CREATE INDEX fact_number ON fact (path, number) WHERE number IS NOT NULL;

CREATE TABLE document (key INTEGER PRIMARY KEY, content BLOB NOT NULL) STRICT;

CREATE TABLE journal (
    sequence INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    correlation TEXT NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    xid TEXT NOT NULL,
    changed TEXT NOT NULL
) STRICT;
