-- Files that a benchmark was looked for in (training data), and which of its texts and concepts occur there.
CREATE TABLE training (
    training_id INTEGER PRIMARY KEY,
    benchmark_id INTEGER NOT NULL,
    file VARCHAR NOT NULL,             -- its name, without folders
    checksum VARCHAR NOT NULL,         -- SHA-256 of the file as it lay there
    n_bytes BIGINT NOT NULL,
    n_rows BIGINT NOT NULL,            -- lines or records
    n_texts BIGINT NOT NULL,           -- in them
    settings VARCHAR NOT NULL,         -- JSON object: how it was read and looked through
    counts VARCHAR NOT NULL,           -- JSON object: how many of what was looked for occur, by task
    n_matches BIGINT NOT NULL,         -- rows of training_match
    made_at TIMESTAMP NOT NULL
);
CREATE TABLE training_match (
    training_id INTEGER NOT NULL,
    task_id INTEGER NOT NULL,
    item VARCHAR NOT NULL,             -- query | document | concept
    position INTEGER,                  -- of the query or document in its task; null for a concept
    concept VARCHAR,                   -- null for a query or document
    kind VARCHAR NOT NULL,             -- exact | normalised | inside | span
    row BIGINT NOT NULL                -- the first line or record where it occurs
);
