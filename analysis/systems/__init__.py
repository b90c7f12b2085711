"""Retrieval systems: from a corpus and questions to a ranking."""
