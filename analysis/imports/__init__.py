"""Readers of other people's files: a path in, checked rows out, errors that name file, line and value."""
