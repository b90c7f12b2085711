"""One page a question; each is a short script."""
