"""Invented sources in the true formats, for trying the commands and for tests: no row is of UMLS or of anybody else."""
