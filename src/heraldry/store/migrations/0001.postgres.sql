CREATE TABLE counter (
    revision bigint NOT NULL,
    entity bigint NOT NULL,
    document bigint NOT NULL,
    change bigint NOT NULL,
    path bigint NOT NULL,
    stamp bigint NOT NULL
);
INSERT INTO counter VALUES (0, 0, 0, 0, 0, 0);

CREATE TABLE state (one smallint PRIMARY KEY CHECK (one = 1), content bytea NOT NULL);

-- Order and equality are those of code points, as in Python and SQLite: COLLATE "C".
CREATE TABLE entity (
    key bigint PRIMARY KEY,
    parent bigint NOT NULL,
    kind smallint NOT NULL,
    type text COLLATE "C" NOT NULL,
    xid text COLLATE "C" NOT NULL,
    folded text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    place text COLLATE "C" NOT NULL,
    attributes bytea NOT NULL,
    chosen bigint NOT NULL,
    xref text COLLATE "C" NOT NULL,
    document bigint NOT NULL,
    borrowed smallint NOT NULL
);
CREATE UNIQUE INDEX entity_xid ON entity (folded);
CREATE INDEX entity_child ON entity (parent, type, place);
CREATE INDEX entity_type ON entity (type, key);
CREATE INDEX entity_xref ON entity (xref) WHERE xref <> '';

CREATE TABLE path (
    number bigint PRIMARY KEY,
    type text COLLATE "C" NOT NULL,
    mark text COLLATE "C" NOT NULL,
    steps text COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX path_mark ON path (type, mark);

CREATE TABLE fact (
    key bigint NOT NULL,
    path bigint NOT NULL,
    kind smallint NOT NULL,
    text text COLLATE "C" NOT NULL,
    rest text COLLATE "C" NOT NULL,
    number numeric,
    PRIMARY KEY (key, path)
);
CREATE INDEX fact_text ON fact (path, kind, text);
CREATE INDEX fact_number ON fact (path, number) WHERE number IS NOT NULL;

CREATE TABLE document (key bigint PRIMARY KEY, content bytea NOT NULL);

CREATE TABLE journal (
    sequence bigint PRIMARY KEY,
    at text NOT NULL,
    correlation text NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    xid text NOT NULL,
    changed text NOT NULL
);
