CREATE TABLE decision (
    -- Decisions over instances: how the study went on after so many finished groups. A row makes those of its plan with
    -- the same or a higher number void that were written before it.
    id INTEGER PRIMARY KEY,
    plan INTEGER NOT NULL REFERENCES plan,
    number INTEGER NOT NULL CHECK (number >= 0),  -- of the groups that were finished
    decision TEXT NOT NULL,  -- JSON: algorithms and instances that go on, or that the study is done; and why
    digest TEXT NOT NULL,  -- of the decision
    taken TEXT NOT NULL,
    session INTEGER NOT NULL REFERENCES session
) STRICT;

CREATE TABLE progress (
    -- One row: where the study stood when runs were last written, for those who watch from another process.
    id INTEGER PRIMARY KEY CHECK (id = 1),
    written TEXT NOT NULL,
    session INTEGER NOT NULL REFERENCES session,
    progress TEXT NOT NULL  -- JSON: instances and runs done and planned, runs per second, seconds left
) STRICT;
