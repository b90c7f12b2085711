"""Measures: one value a query, arrays in and arrays out."""
