"""Builders: from a source to the frozen rows of one benchmark."""
