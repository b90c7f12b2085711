-- Figures that others published without the per-query values behind them: they stand beside what was measured here.
CREATE TABLE published_source (
    task_id INTEGER NOT NULL,
    system VARCHAR NOT NULL,
    file VARCHAR NOT NULL,           -- below the folder that was imported
    checksum VARCHAR NOT NULL,       -- SHA-256 of its text, unpacked: the same file is stored once
    program VARCHAR,                 -- what made the figures, such as "mteb 2.18.13"
    model_revision VARCHAR,
    dataset_revision VARCHAR,
    evaluated_at TIMESTAMP,          -- UTC; null where the file does not say
    n_figures INTEGER NOT NULL,      -- rows of published, so that check can count
    UNIQUE (task_id, system)
);
CREATE TABLE published (
    task_id INTEGER NOT NULL,
    system VARCHAR NOT NULL,
    split VARCHAR NOT NULL,
    subset VARCHAR NOT NULL,
    query_language VARCHAR NOT NULL, -- shortest tag, "und" where the file does not say
    document_language VARCHAR NOT NULL,
    measure VARCHAR NOT NULL,        -- a key of the measures' catalogue where it has one, else the file's own
    value DOUBLE NOT NULL            -- what is missing in the file has no row
);
