"""The pages on paper: one HTML file, and every table in LaTeX."""
