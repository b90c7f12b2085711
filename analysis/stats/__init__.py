"""Intervals and tests: pure, seeded, arrays in and results out."""
