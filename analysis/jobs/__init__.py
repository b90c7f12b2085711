"""Long work: builds benchmarks and runs systems, on the command line or in a child process that a page starts."""

from analysis.jobs.progress import FIRST_START, JobState, cancel, start_first, state

__all__ = ["FIRST_START", "JobState", "cancel", "start_first", "state"]
