-- What an import found doubtful: a query or a document by its position in its task, once for each reason.
CREATE TABLE flag (
    task_id INTEGER NOT NULL,
    item VARCHAR NOT NULL,           -- query | document
    position INTEGER NOT NULL,
    reason VARCHAR NOT NULL          -- a few words, such as "other script"
);
