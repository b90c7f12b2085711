"""The only owner of DuckDB and of everything under the cache folder."""
