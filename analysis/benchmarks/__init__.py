"""Builders: from a source to the frozen rows of one benchmark."""

NAMES = ("bedside", "icd10")
"""The benchmarks that the program builds: it knows them by their names."""
