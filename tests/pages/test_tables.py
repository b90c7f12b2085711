import csv
import io

import pytest

from pages.shared import tables
from pages.shared.tables import Markup


def test_text_is_escaped_and_keeps_its_own_direction():
    assert tables.escaped('<b>"שלום"</b>', language="he") == (
        '<span dir="auto" lang="he">&lt;b&gt;&quot;שלום&quot;&lt;/b&gt;</span>'
    )


def test_a_table_escapes_plain_cells_and_trusts_markup():
    made = tables.table({"A": "text", "B": "number"}, ["group <x>", ["<i>", Markup("<b>1</b>")]])
    assert "group &lt;x&gt;" in made
    assert '<td class="text" dir="auto">&lt;i&gt;</td><td class="number"><b>1</b></td>' in made


@pytest.mark.parametrize(
    ("place", "shown"), [(1, "1"), (1200, "1,200"), (None, '<span class="grey">&gt; 1,000</span>')]
)
def test_a_rank_beyond_the_depth_is_grey_and_never_a_number(place, shown):
    assert tables.rank(place, beyond=1000) == shown


def test_the_ink_of_a_rank_fades_to_the_last_place():
    first, last = (tables.inked_rank(place, last=1000, dark=False) for place in (1, 1000))
    assert "background:#06414C" in first
    assert "background:#F4F0E8" in last


def test_csv_keeps_other_scripts_and_leaves_missing_empty():
    assert tables.as_csv(["a", "b"], [["食道", None], ["x,y", 0.1]]) == '\ufeffa,b\n食道,\n"x,y",0.1\n'.encode()


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@cmd", "\tx", "\rx"])
def test_what_a_spreadsheet_would_run_becomes_a_text_and_numbers_stay(text):
    made = tables.as_csv([text, "b"], [[text, -0.5], ["a=1", -3]])
    lines = list(csv.reader(io.StringIO(made.decode("utf-8-sig"), newline="")))
    assert lines == [[f"'{text}", "b"], [f"'{text}", "-0.5"], ["a=1", "-3"]]


def test_a_number_has_a_real_minus_and_no_number_is_a_blank():
    assert [tables.signed(value) for value in (-0.333, -0.001, 0.5, None)] == ["−0.33", "0.00", "0.50", ""]
