-- What else is known of a query, by whatever name its benchmark gives it; a query without the attribute has no row.
CREATE TABLE query_attribute (
    task_id INTEGER NOT NULL,
    query INTEGER NOT NULL,
    attribute VARCHAR NOT NULL,
    value VARCHAR NOT NULL
);
-- Imported per-query values of runs without a ranking; a query that the file lacks, or on which the measure is
-- undefined, has no row.
CREATE TABLE score (
    run_id INTEGER NOT NULL,
    query INTEGER NOT NULL,
    measure VARCHAR NOT NULL,        -- a key of the measures' catalogue, such as recall_at_10
    value DOUBLE NOT NULL
);
