"""The parts of the Significance page, each with its sentence, chart, table and CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from analysis.charts import significance as charts
from analysis.views import significance
from analysis.views.selection import Sentence, SystemLabel
from analysis.views.significance import SignificanceTask, SignificanceView
from pages.shared import address, glossary, significance_table, tables, ui


def backstop(task: SignificanceTask) -> None:
    """The switch that shows a p where there is too little to test, where that is so."""
    if significance_table.withheld(task):
        address.switch("Show p all the same, although there is too little to test", name="descriptive")


def tax(task: SignificanceTask, *, dark: bool) -> None:
    """What crossing languages costs each system."""
    if not task.tax:
        return
    st.header("What does crossing languages cost?", anchor=False)
    ui.caption(glossary.TAX_CAPTION, more=glossary.TAX)
    alt = f"Loss of R@10 across languages, by system. {task.takeaway.bold}"
    ui.chart(charts.tax(task.tax, dark=dark), key="tax", alt=alt)
    tables.show(significance_table.tax(task.tax, dark=dark))
    ui.download("CSV of the tax", *significance_table.tax_numbers(task.tax), file=f"tax-{task.task.name}.csv")


def pairs(task: SignificanceTask, *, dark: bool) -> None:
    """Which systems differ: the omnibus test, every pair, and the chosen one in words."""
    st.header("Which systems differ?", anchor=False)
    if not task.pairs:
        ui.nothing("There is no pair to compare.", next_step=glossary.CHOOSE_SECOND)
        return
    measure = task.measure.label
    ui.takeaway(significance.friedman_sentence(task.friedman, measure))
    ui.caption(glossary.PAIRS_CAPTION, more=glossary.PAIRS)
    picture = st.container()  # above the select boxes, although it marks what they choose
    chosen = significance_table.pickers(task.pairs)
    row = significance_table.pair(task.pairs, chosen)
    sentence = significance.pair_sentence(row, measure, pairs=len(task.pairs))
    with picture:
        ui.chart(
            charts.matrix(task.pairs, measure=measure, chosen=chosen, dark=dark),
            key="pairs",
            alt=f"Differences in {measure} between every two systems. {_spoken(sentence)}",
            clicked=significance_table.choose,
        )
    ui.takeaway(sentence)
    with st.expander(f"All {len(task.pairs)} pairs as a table"):
        tables.show(significance_table.pairs(task.pairs, measure=measure, dark=dark))
    numbers = significance_table.pair_numbers(task.pairs, measure=measure)
    ui.download("CSV of the pairs", *numbers, file=f"pairs-{task.task.name}.csv")


def ranks(task: SignificanceTask, systems: Sequence[SystemLabel], *, dark: bool) -> None:
    """The critical-difference diagram."""
    row = task.friedman
    if not row.average_ranks:
        return
    st.header("Which systems rank alike?", anchor=False)
    ui.caption(f"Average rank at {task.measure.label} · {glossary.RANKS_CAPTION}", more=glossary.RANKS)
    if row.note:
        ui.grey(f"The bars are {row.note}.")
    if row.caution:
        ui.grey(row.caution)
    labels = {label.name: label for label in systems}
    best = labels[row.average_ranks[0][0]].short
    alt = f"Critical-difference diagram. {best} has the best average rank, {row.average_ranks[0][1]:.2f}."
    ui.chart(charts.critical_difference(row, labels, dark=dark), key="ranks", alt=alt)
    with st.expander("Average ranks as a table"):
        tables.show(significance_table.ranks(row, labels, dark=dark))
    ui.download("CSV of the ranks", *significance_table.rank_numbers(row), file=f"ranks-{task.task.name}.csv")


def global_tax(task: SignificanceTask, *, dark: bool) -> None:
    """Odds of being found in the own language against another, over all answers at once."""
    if not task.global_tax:
        return
    st.header("How much easier is an answer in one’s own language?", anchor=False)
    ui.caption(glossary.GLOBAL_CAPTION, more=glossary.GLOBAL)
    tables.show(significance_table.global_tax(task.global_tax, dark=dark))
    numbers = significance_table.global_numbers(task.global_tax)
    ui.download("CSV of the odds", *numbers, file=f"odds-{task.task.name}.csv")


def order_agreement(view: SignificanceView, titles: Mapping[str, str], *, dark: bool) -> None:
    """Whether other tasks, parts of the queries and benchmarks put the systems in the same order."""
    st.header("Does the order hold elsewhere?", anchor=False)
    rows = significance_table.readable(view.order_agreement, view.tasks[0].task, titles)
    shown = [row for row in rows if row.kind != "subsets" or row.with_whole]
    sentence = significance.agreement_sentence(shown)
    if not shown:
        ui.nothing(sentence.bold, next_step=sentence.rest)
        return
    ui.takeaway(sentence)
    ui.caption(glossary.ORDER_CAPTION, more=glossary.ORDER)
    names = significance_table.agreement_names(shown)
    ui.chart(charts.order_agreement(shown, names, dark=dark), key="order", alt=_spoken(sentence))
    with st.expander(f"All {len(rows)} comparisons as a table"):
        tables.show(significance_table.agreement(rows))
    numbers = significance_table.agreement_numbers(view.order_agreement)
    ui.download("CSV of the orders", *numbers, file=f"order-{view.tasks[0].task.name}.csv")


def _spoken(sentence: Sentence) -> str:
    return f"{sentence.bold} {sentence.rest}".strip()
