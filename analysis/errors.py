"""The five errors Babelscope raises on purpose; every other exception is a bug.

Each message is one sentence for the person who caused it: where, which value, and what was expected.
"""


class BabelscopeError(Exception):
    """Base of the five; the command line prints its message as the one clear last line and exits with 1."""


class InputError(BabelscopeError):
    """A file or a value given by the user is wrong: names the file, the line, the value and what was expected."""


class StoreError(BabelscopeError):
    """The store cannot be read or written as asked: unknown benchmark, newer schema, damaged file."""


class SystemLoadError(BabelscopeError):
    """A retrieval system could not be loaded, or failed the check that it must pass before it scores."""


class SystemRefusedError(BabelscopeError):
    """A retrieval system declines a task that it could not finish in reasonable time or memory."""


class JobCancelledError(BabelscopeError):
    """A job was cancelled by the user; nothing it had not yet committed is stored."""
