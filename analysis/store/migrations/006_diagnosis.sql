-- What was found out about a run besides its ranking, by its tokeniser, its vectors or its words: it goes with the run.
-- A later step that changes how these are counted empties these tables; they are then asked for anew.
CREATE TABLE diagnosis (
    run_id INTEGER NOT NULL,
    fingerprint VARCHAR NOT NULL,    -- of the run that was looked at
    token_limit INTEGER,             -- tokens that its model reads; null: whole texts, or not told
    tokens_reason VARCHAR,           -- why its tokens are not told; null where they are
    vectors_reason VARCHAR,          -- why nothing is said of its vectors; null where something is
    n_rows VARCHAR NOT NULL,         -- JSON object: rows of each table below, so that check can count
    seed BIGINT NOT NULL,            -- of samples and folds
    made_at TIMESTAMP NOT NULL
);
CREATE TABLE text_tokens (
    run_id INTEGER NOT NULL,
    item VARCHAR NOT NULL,           -- query | document
    position INTEGER NOT NULL,       -- in its task
    tokens INTEGER NOT NULL,         -- without frame and prompt
    unknown_tokens INTEGER,          -- null for a byte-level vocabulary
    characters INTEGER NOT NULL,     -- that are not white space
    unknown_characters INTEGER,
    truncated BOOLEAN NOT NULL       -- the model does not read its end
);
-- A sample of texts by their vectors.
CREATE TABLE text_space (
    run_id INTEGER NOT NULL,
    item VARCHAR NOT NULL,
    position INTEGER NOT NULL,
    silhouette FLOAT,                -- by language, -1 to 1; null with one language
    guessed_language VARCHAR         -- by the linear probe; null where it could not be fitted
);
-- How near a family's texts in two languages are, and how near they are to the other families' texts.
CREATE TABLE translation (
    run_id INTEGER NOT NULL,
    item VARCHAR NOT NULL,
    language VARCHAR NOT NULL,
    other_language VARCHAR NOT NULL,
    family VARCHAR NOT NULL,
    cosine FLOAT NOT NULL,
    random FLOAT                     -- null where there is no other family
);
CREATE TABLE centroid_distance (
    run_id INTEGER NOT NULL,
    language VARCHAR NOT NULL,
    other_language VARCHAR NOT NULL,
    distance DOUBLE NOT NULL         -- of the languages' mean vectors, 0 to 2
);
-- Queries of a run that compares words.
CREATE TABLE word_match (
    run_id INTEGER NOT NULL,
    query INTEGER NOT NULL,
    is_known BOOLEAN NOT NULL,       -- a word of it stands in the corpus
    is_shared BOOLEAN                -- a word of it stands in an answer in another language; null without such an answer
);
