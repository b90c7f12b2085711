"""Long work: builds benchmarks and runs systems, on the command line or in a child process that a page starts."""

from analysis.jobs import annotate, audit_sheet, import_audit, own_systems, what_if
from analysis.jobs.first_rows import Preview, preview
from analysis.jobs.manage import LATER
from analysis.jobs.places import allowed, folders, receive
from analysis.jobs.progress import (
    ADD_ICD10,
    FIRST_START,
    Job,
    JobRequest,
    JobResult,
    JobState,
    again,
    begin,
    cancel,
    last_words,
    listed,
    result,
    saved,
    state,
)
from analysis.jobs.starting import FIELDS, FORMATS, LOOSE_JUDGEMENTS, OWN_OPTIONS, Options, confirm, launch
from analysis.jobs.what_if import WhatIf
from analysis.model import PARADIGMS

__all__ = [
    "ADD_ICD10",
    "FIELDS",
    "FIRST_START",
    "FORMATS",
    "LATER",
    "LOOSE_JUDGEMENTS",
    "OWN_OPTIONS",
    "PARADIGMS",
    "Job",
    "JobRequest",
    "JobResult",
    "JobState",
    "Options",
    "Preview",
    "WhatIf",
    "again",
    "allowed",
    "annotate",
    "audit_sheet",
    "begin",
    "cancel",
    "confirm",
    "folders",
    "import_audit",
    "last_words",
    "launch",
    "listed",
    "own_systems",
    "preview",
    "receive",
    "result",
    "saved",
    "state",
    "what_if",
]
