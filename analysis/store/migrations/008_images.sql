-- Where the images of queries and documents are: a benchmark names them and does not hold them.
CREATE TABLE image (
    task_id INTEGER NOT NULL,
    item VARCHAR NOT NULL,           -- query | document
    position INTEGER NOT NULL,
    path VARCHAR NOT NULL,           -- as imported
    folder VARCHAR NOT NULL,         -- that was imported, absolute: no file outside it is opened
    place VARCHAR NOT NULL           -- the folder inside it whose file names the image; empty: the folder itself
);
