"""Which system, and can I trust the difference?"""

from analysis.views import overview
from pages.shared import address, leaderboard, papers_parts, picture_parts, published_parts, ui

with ui.page(ui.OVERVIEW, every_task=True) as frame:
    if not frame.systems:
        papers_parts.show(frame, ui.OVERVIEW)
        ui.no_systems(frame)
    view = ui.answer(overview.overview, frame.selection)
    if view.tasks and frame.measured:
        leaderboard.measured(view, dark=frame.dark)
        picture_parts.overview(frame)
    published_parts.show_boards(frame, view.published)
    papers_parts.show(frame, ui.OVERVIEW)
    documents = sum(task.n_documents for task in frame.tasks)
    if documents or view.published:
        ui.go_to(ui.ROUTES, "Next: which language pairs fail? →", **address.everything())
    else:
        ui.go_to(ui.FAIRNESS, "Next: who is left behind? →", **address.everything())
    leaderboard.card(view.benchmark)
    ui.sidebar_note(leaderboard.size(frame.tasks))
