-- A picture of where texts lie in a space of vectors; its points are in a Parquet file of its own (cache/maps).
CREATE TABLE projection (
    task_id INTEGER NOT NULL,
    system VARCHAR NOT NULL,           -- whose vectors they are
    dimensions INTEGER NOT NULL,       -- 2 | 3; one picture of each
    method VARCHAR NOT NULL,           -- umap | given (somebody else's coordinates)
    parameters VARCHAR NOT NULL,       -- JSON object: neighbours, min_distance, libraries
    seed BIGINT,                       -- of sample and layout; null where given
    run_fingerprint VARCHAR,           -- of the run whose encoder made the vectors; null where they were given
    vectors_checksum VARCHAR,          -- SHA-256 of the vectors, documents first; null where there are none
    n_texts INTEGER NOT NULL,          -- that the points were drawn from
    n_points INTEGER NOT NULL,
    k INTEGER,                         -- neighbours that trust is taken at
    trustworthiness DOUBLE,            -- 0 to 1; null without vectors, or with too few
    continuity DOUBLE,
    points_file VARCHAR NOT NULL,
    points_checksum VARCHAR NOT NULL,
    made_at TIMESTAMP NOT NULL
);
