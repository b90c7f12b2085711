"""What is here, and how do I bring my own?"""

import streamlit as st

from pages.shared import data_here, data_import, data_jobs, data_run, ui

PARTS = {
    "here": "What is here",
    "import": "Bring your own",
    "run": "Run systems",
    "jobs": "Jobs",
}


def bring() -> None:
    """Where nothing is stored yet: bring a benchmark."""
    st.header("Or bring your own", anchor=False)
    data_jobs.watch()
    data_import.show(None)


with ui.page(ui.DATA, systems=False, everything=True, empty=bring) as frame:
    data_jobs.watch()
    part = ui.part(PARTS)
    if part == "import":
        data_import.show(frame)
    elif part == "run":
        data_run.show(frame)
    elif part == "jobs":
        data_jobs.show()
        data_import.look_back()
    else:
        data_here.show(frame)
