"""What tokens, vectors and lists look like from inside: pure, seeded, arrays in and results out."""
