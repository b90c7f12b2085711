"""Long work: builds benchmarks and runs systems, on the command line or in a child process that a page starts."""

from analysis.jobs.progress import ADD_ICD10, FIRST_START, JobState, begin, cancel, state

__all__ = ["ADD_ICD10", "FIRST_START", "JobState", "begin", "cancel", "state"]
