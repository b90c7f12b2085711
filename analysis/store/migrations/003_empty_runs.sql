-- A run without a row has no list, and so no share of lists.
ALTER TABLE run_concentration ALTER COLUMN largest_document_share DROP NOT NULL;
