-- Keys inside are positions: a document or query is (task_id, position in its task). The user's ids are kept as text.
CREATE TABLE benchmark (
    benchmark_id INTEGER PRIMARY KEY,
    name VARCHAR NOT NULL,
    version VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    parallel BOOLEAN NOT NULL,
    licence VARCHAR NOT NULL,
    source VARCHAR NOT NULL,
    notes VARCHAR NOT NULL,          -- JSON list
    settings VARCHAR NOT NULL,       -- JSON object
    checksum VARCHAR NOT NULL,       -- of all rows, so that the same build is recognised
    built_at TIMESTAMP NOT NULL,
    UNIQUE (name, version)
);
CREATE TABLE task (
    task_id INTEGER PRIMARY KEY,
    benchmark_id INTEGER NOT NULL,
    name VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    question VARCHAR NOT NULL,
    exclude_self BOOLEAN NOT NULL,
    is_default BOOLEAN NOT NULL,
    checksum VARCHAR NOT NULL,       -- of the task's rows: part of a run's fingerprint
    documents_file VARCHAR NOT NULL, -- under documents/
    documents_checksum VARCHAR NOT NULL,
    n_documents INTEGER NOT NULL,    -- in the corpus; dangling ones come after them
    n_queries INTEGER NOT NULL,
    n_negative_grades INTEGER NOT NULL,
    UNIQUE (benchmark_id, name)
);
CREATE TABLE document (
    task_id INTEGER NOT NULL,
    document INTEGER NOT NULL,
    id VARCHAR NOT NULL,
    language VARCHAR,                -- null: judged but absent from the corpus
    family VARCHAR,
    sibling_group VARCHAR,
    related_group VARCHAR
);
CREATE TABLE query (
    task_id INTEGER NOT NULL,
    query INTEGER NOT NULL,
    id VARCHAR NOT NULL,
    language VARCHAR NOT NULL,
    text VARCHAR NOT NULL,
    family VARCHAR NOT NULL,
    sibling_group VARCHAR,
    related_group VARCHAR,
    tier VARCHAR,
    mode VARCHAR,
    strategy VARCHAR,
    audit_status VARCHAR,
    source_query VARCHAR             -- all language versions of one question share it
);
CREATE TABLE excluded (
    task_id INTEGER NOT NULL,
    query INTEGER NOT NULL,
    document INTEGER NOT NULL
);
-- Every grade, also 0 and below: a document judged non-relevant is judged.
CREATE TABLE judgement (
    task_id INTEGER NOT NULL,
    query INTEGER NOT NULL,
    document INTEGER NOT NULL,
    grade DOUBLE NOT NULL
);
CREATE TABLE system (
    name VARCHAR PRIMARY KEY,
    title VARCHAR NOT NULL,
    short VARCHAR NOT NULL,
    paradigm VARCHAR NOT NULL
);
CREATE TABLE run (
    run_id INTEGER PRIMARY KEY,
    task_id INTEGER NOT NULL,
    system VARCHAR NOT NULL,
    status VARCHAR NOT NULL,         -- complete | refused
    reason VARCHAR,                  -- why it was refused
    depth INTEGER,
    hits_kept INTEGER,
    hits_file VARCHAR,               -- under hits/
    hits_checksum VARCHAR,
    n_hits BIGINT,
    fingerprint VARCHAR NOT NULL,    -- of the task, the system's settings and the depth
    provenance VARCHAR NOT NULL,     -- JSON object: settings, versions, seconds, texts a second
    parents VARCHAR NOT NULL,        -- JSON list of systems it was composed from
    created_at TIMESTAMP NOT NULL,
    UNIQUE (task_id, system)
);
-- The heart: where every judged document with a positive grade stands; null beyond the run's depth.
CREATE TABLE relevant_rank (
    run_id INTEGER NOT NULL,
    query INTEGER NOT NULL,
    document INTEGER NOT NULL,
    rank INTEGER
);
-- What needs the other documents too, counted once when the run is stored; null where undefined.
CREATE TABLE query_score (
    run_id INTEGER NOT NULL,
    query INTEGER NOT NULL,
    depth INTEGER NOT NULL,          -- of this query's own list; 0 = missing from the run
    tied_at_10 BOOLEAN NOT NULL,
    ndcg_at_10_low DOUBLE,
    ndcg_at_10_high DOUBLE,
    judged_at_5 DOUBLE, judged_at_10 DOUBLE, judged_at_20 DOUBLE, judged_at_100 DOUBLE,
    same_language_at_5 DOUBLE, same_language_at_10 DOUBLE, same_language_at_20 DOUBLE, same_language_at_100 DOUBLE,
    same_language_irrelevant_at_5 DOUBLE, same_language_irrelevant_at_10 DOUBLE,
    same_language_irrelevant_at_20 DOUBLE, same_language_irrelevant_at_100 DOUBLE,
    first_sibling_rank INTEGER, first_related_rank INTEGER, first_unrelated_rank INTEGER,
    first_sibling_language VARCHAR, first_related_language VARCHAR, first_unrelated_language VARCHAR,
    outcome_at_1 VARCHAR,            -- same concept | sibling | related | unrelated
    outcome_at_1_same_language BOOLEAN
);
-- Non-relevant documents above the first relevant one (at most ten), by their language.
CREATE TABLE language_above (
    run_id INTEGER NOT NULL,
    query INTEGER NOT NULL,
    language VARCHAR NOT NULL,
    count INTEGER NOT NULL
);
CREATE TABLE run_concentration (
    run_id INTEGER NOT NULL,
    k INTEGER NOT NULL,
    distinct_documents INTEGER NOT NULL,
    largest_document_share DOUBLE NOT NULL
);
