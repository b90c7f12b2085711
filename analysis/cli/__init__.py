"""The command line: data on stdout, narration on stderr; exit 0 done, 1 failed with one clear line, 2 wrong usage."""

from analysis.cli.main import main

__all__ = ["main"]
