"""What people said, counted by hand; agreement as fractions; files that keep texts what they are."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import InputError
from analysis.model import Benchmark, Document, Query, Task
from analysis.paths import Cache
from analysis.stats.proportion import wilson
from analysis.store import notes as stored
from analysis.store import read, write
from analysis.store.notes import NoteFilter
from analysis.views import notes, notes_export
from analysis.views.notes import RouteCount, SystemCount, TagCount
from tests.store.test_notes import BASE


def task(name, title, texts):
    documents = tuple(Document(f"{name}-{tag}", tag, f"answer {tag}", family="c") for tag in ("en", "fr", "ja"))
    queries = tuple(Query(f"q{n}", tag, text, family=f"f{n}") for n, (tag, text) in enumerate(texts, start=1))
    return Task(name, title, "A question.", documents, queries, (), default=name == "main")


def made(texts=(("en", "a heart"), ("ja", "心臓"), ("en", "a lung"))):
    return Benchmark(
        *("example", "1", "Worked example", True, "CC0", "by hand", (), {}),
        tasks=(task("main", "Main task", texts), task("more", "One more", [("fr", "un cœur")])),
    )


@pytest.fixture(scope="module")
def empty_store(tmp_path_factory):
    cache = Cache(tmp_path_factory.mktemp("notes"))
    with write.writer(cache) as writer:
        writer.add_benchmark(made())
        for name, paradigm in (("dense", "multilingual dense"), ("words", "lexical")):
            writer.add_system(name, title=name, short=name.upper(), paradigm=paradigm)
    return read.open_store(cache)


@pytest.fixture
def store(empty_store):
    yield empty_store
    empty_store.cache.notes.unlink(missing_ok=True)


def say(store, **what):
    """Write what differs from a tag of ann's on q1, en → fr, dense."""
    return stored.add(store.cache, BASE._replace(**{"system": "dense", **what}))


def view(store, **wanted):
    return notes.notes(store, "example", wanted=NoteFilter(**wanted))


def test_nothing_said_yet(store):
    found = view(store)
    assert (found.rows, found.by_tag, found.by_system, found.by_route, found.used, found.authors) == ((),) * 6
    assert found.offered == tuple(notes.TAGS)
    assert found.takeaway.bold == "Nobody has tagged a query or noted anything yet."
    assert (notes.of_query(store, "example", "main", "q1"), notes.tagged(store, "example", "main")) == ((), ())
    assert notes.version(store.cache.root) == ""


def filled(store):
    say(store)
    say(store, author="bob")
    say(store, query_id="q2", query_language="ja", document_language=None, system=None, tag="zoo")
    say(store, query_id="q2", query_language="ja", document_language=None, system=None, tag="other")
    say(store, query_id="q3", document_language="ja", system="words")
    say(store, task="more", query_id="q1", query_language="fr", document_language="fr", system="gone")
    say(store, query_id="q3", document_language=None, system=None, tag=None, note="a note alone")


def test_counts_by_tag_system_and_route(store):
    filled(store)
    found = view(store)
    assert found.by_tag == (
        TagCount("wrong sibling", n=4, n_queries=3),  # ann and bob gave it to the same query
        TagCount("other", 1, 1),
        TagCount("zoo", 1, 1),
        TagCount(None, 1, 1),
    )
    assert found.by_system == (  # in the order of the systems; what nothing is stored of any more at the end
        SystemCount("wrong sibling", "words", 1, 1),
        SystemCount("wrong sibling", "dense", n=2, n_queries=1),
        SystemCount("wrong sibling", "gone", 1, 1),
        SystemCount("other", None, 1, 1),
        SystemCount("zoo", None, 1, 1),
    )
    assert found.by_route == (
        RouteCount("wrong sibling", "en", "fr", n=2, n_queries=1),
        RouteCount("wrong sibling", "en", "ja", 1, 1),
        RouteCount("wrong sibling", "fr", "fr", 1, 1),
        RouteCount("other", "ja", None, 1, 1),
        RouteCount("zoo", "ja", None, 1, 1),
    )
    assert found.systems["dense"].short == "DENSE"
    assert (found.systems["gone"].short, found.systems["gone"].paradigm) == ("gone", "unknown")
    assert found.used == ("wrong sibling", "other", "zoo")
    assert found.offered == (*notes.TAGS, "zoo")
    assert found.authors == ("ann", "bob")
    assert found.takeaway == ("“wrong sibling” is the most frequent tag: 3 of 4 tagged queries.", "")


def test_rows_stand_in_the_order_of_the_benchmark_with_the_texts_of_their_queries(store):
    filled(store)
    say(store, query_id="gone")
    say(store, task="left", query_id="q1")
    found = view(store)
    order = [("main", "q1"), ("main", "q2"), ("main", "q3"), ("main", "gone"), ("more", "q1"), ("left", "q1")]
    assert list(dict.fromkeys((row.task, row.query_id) for row in found.rows)) == order
    assert [row.author for row in found.rows[:2]] == ["ann", "bob"]
    assert found.texts == dict(zip([*order[:3], order[4]], ["a heart", "心臓", "a lung", "un cœur"], strict=True))
    assert [row.task for row in view(store, tasks=("more",)).rows] == ["more"]


def test_filters_leave_what_can_be_chosen(store):
    filled(store)
    found = view(store, tags=("zoo",), tasks=("main",))
    assert [row.query_id for row in found.rows] == ["q2"]
    assert (found.used, found.authors) == (("wrong sibling", "other", "zoo"), ("ann", "bob"))
    assert found.takeaway == ("“zoo” is the most frequent tag: 1 of 1 tagged query.", "")
    nothing = view(store, tags=("tokenisation",)).takeaway
    assert nothing == ("Nothing matches.", "Without the filter there are 7.")
    assert view(store, query_ids=()).rows == ()
    assert {row.system for row in view(store, systems=("words", "dense")).rows} == {"words", "dense"}
    with pytest.raises(InputError, match="unknown task 'none': example has main, more"):
        view(store, tasks=("none",))
    with pytest.raises(InputError, match="unknown benchmark 'none'"):
        notes.notes(store, "none")


def test_one_query_and_the_queries_of_a_tag(store):
    filled(store)
    assert [row.tag for row in notes.of_query(store, "example@1", "main", "q2")] == ["zoo", "other"]
    assert notes.of_query(store, "example", "main", "q9") == ()
    assert notes.tagged(store, "example", "main", tags=("wrong sibling",)) == ("q1", "q3")
    assert notes.tagged(store, "example", "main", tags=("zoo", "wrong sibling"), authors=("ann",)) == ("q1", "q2", "q3")
    assert notes.tagged(store, "example", "main", authors=("bob",)) == ("q1",)
    assert notes.tagged(store, "example", "more") == ("q1",)


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (
            [{"query_id": "q1"}, {"query_id": "q2"}, {"query_id": "q3", "document_language": "ja", "system": "words"}],
            (
                "“wrong sibling” is the most frequent tag: 3 of 3 tagged queries.",
                "Most often on en → fr (2) and with DENSE (2).",
            ),
        ),
        (
            [{}, {"query_id": "q2", "tag": "zoo"}, {"query_id": "q2", "tag": None, "note": "x"}],
            ("“wrong sibling” and “zoo” are the most frequent tags: 1 of 2 tagged queries each.", ""),
        ),
        ([{"tag": None, "note": "x"}], ("1 query noted, none tagged.", "")),
        (
            [{"tag": "zoo", "system": None}, {"query_id": "q2", "tag": "zoo", "system": None}, {}],
            ("“zoo” is the most frequent tag: 2 of 2 tagged queries.", "Most often on en → fr (2)."),
        ),
    ],
)
def test_takeaways(store, said, sentence):
    for what in said:
        say(store, **what)
    assert view(store).takeaway == sentence


# Agreement


def both(store, first, second, author="bob"):
    """Tags that ann and another gave to the same queries, one letter each; None for none, several for several."""
    for number, tags in enumerate(zip(first, second, strict=True)):
        for name, given_tags in zip(("ann", author), tags, strict=True):
            for tag in given_tags or ():
                say(store, query_id=f"q{number}", author=name, tag=tag)


def agreement(store, **more):
    return notes.agreement(store, "example", **{"first": "ann", "second": "bob", **more})


def exactly(number):
    return pytest.approx(float(number), abs=1e-12)


def test_agreement_on_items_with_one_tag_each(store):
    """Ten items; ann says a 5, b 4, c 1 times, bob a 4, b 4, c 2 times; they agree on a 4, b 3, c 1 times."""
    both(store, "aaaaabbbbc", "aaaabbbbcc")
    found = agreement(store)
    p_o, p_e = Fraction(8, 10), Fraction(5 * 4 + 4 * 4 + 1 * 2, 100)
    shares = (Fraction(9, 20), Fraction(8, 20), Fraction(3, 20))
    p_gwet = sum(share * (1 - share) for share in shares) / 2
    row = found.overall
    low, high = wilson(8, 10)
    assert (row.tag, row.n, row.n_first, row.n_second, row.reason) == (None, 10, 10, 10, None)
    assert row.kappa == exactly((p_o - p_e) / (1 - p_e)) == exactly(Fraction(21, 31))
    assert row.ac1 == exactly((p_o - p_gwet) / (1 - p_gwet)) == exactly(Fraction(197, 277))
    assert (row.agreed, row.low, row.high) == (0.8, exactly(low.item()), exactly(high.item()))
    assert found.takeaway == (
        "ann and bob chose the same tag for 8 of 10 items (κ 0.68, AC1 0.71).",
        "They agree least on “b” (κ 0.58).",
    )


def test_agreement_on_each_tag(store):
    """Tag b: both 3, ann alone 1, bob alone 1, neither 5. Tag c: both 1, bob alone 1, neither 8."""
    both(store, "aaaaabbbbc", "aaaabbbbcc")
    row = {row.tag: row for row in agreement(store).tags}["b"]
    p_o, p_e = Fraction(8, 10), Fraction(4 * 4 + 6 * 6, 100)
    assert (row.n, row.n_first, row.n_second, row.agreed) == (10, 4, 4, 0.8)
    assert row.kappa == exactly((p_o - p_e) / (1 - p_e)) == exactly(Fraction(7, 12))
    p_gwet = 2 * Fraction(4, 10) * Fraction(6, 10)
    assert row.ac1 == exactly((p_o - p_gwet) / (1 - p_gwet)) == exactly(Fraction(8, 13))
    third = {row.tag: row for row in agreement(store).tags}["c"]
    p_gwet = 2 * Fraction(3, 20) * Fraction(17, 20)
    assert third.kappa == exactly((Fraction(9, 10) - Fraction(74, 100)) / Fraction(26, 100)) == exactly(Fraction(8, 13))
    assert third.ac1 == exactly((Fraction(9, 10) - p_gwet) / (1 - p_gwet)) == exactly(Fraction(129, 149))


def test_several_tags_an_item_count_for_each_tag_alone(store):
    both(store, ["ab", "a", "c"], ["a", "b", "c"])
    found = agreement(store)
    assert (found.n_items, found.overall.n, found.overall.agreed) == (3, 2, 0.5)
    assert [(row.tag, row.n_first, row.n_second, row.agreed) for row in found.tags] == [
        ("a", 2, 1, exactly(Fraction(2, 3))),
        ("b", 1, 1, exactly(Fraction(1, 3))),
        ("c", 1, 1, 1.0),
    ]


def test_only_the_same_query_system_and_route_are_compared(store):
    say(store)
    say(store, author="bob", system="words")
    say(store, author="bob", system=None)
    say(store, author="bob", document_language="ja")
    say(store, author="bob", task="more")
    say(store, author="bob", tag=None, note="a note alone says nothing of tags")
    found = agreement(store)
    assert (found.n_items, found.tags) == (0, ())
    assert found.overall[1:] == (None, None, None, None, None, 0, 0, 0, found.overall.reason)
    assert found.overall.reason == "there is no item to which both gave exactly one tag"
    assert found.takeaway == (
        "ann and bob have tagged nothing in common.",
        "Agreement needs queries that both have tagged, for the same system and route.",
    )
    say(store, author="bob")
    assert agreement(store).n_items == 1


def test_one_tag_for_everything_leaves_kappa_undefined(store):
    both(store, "aaa", "aaa")
    found = agreement(store)
    assert (found.overall.kappa, found.overall.ac1, found.overall.agreed) == (None, 1.0, 1.0)
    assert found.overall.reason == (
        "both gave one and the same tag to every item, as they would by chance: κ is not defined"
    )
    assert found.tags[0].reason == "both gave it to every item, as they would by chance: κ is not defined"
    assert found.takeaway == ("ann and bob chose the same tag for 3 of 3 items (κ not defined, AC1 1.00).", "")


def test_items_that_never_have_one_tag_each(store):
    both(store, ["ab", "b"], ["a", "ab"])
    found = agreement(store)
    assert (found.n_items, found.overall.n, found.overall.kappa) == (2, 0, None)
    assert found.takeaway.bold == "ann and bob have both tagged 2 items, none of them with one tag each."


def test_agreement_in_some_tasks_only(store):
    both(store, "ab", "ab")
    say(store, task="more", tag="a")
    say(store, task="more", tag="b", author="bob")
    assert [agreement(store, tasks=names).n_items for names in ((), ("main",), ("more",))] == [3, 2, 1]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"second": "eve"}, "unknown author 'eve': notes are of ann, bob"),
        ({"second": "ann"}, "author 'ann' twice: expected two different ones"),
        ({"tasks": ("none",)}, "unknown task 'none': example has main, more"),
    ],
)
def test_agreement_with_somebody_who_is_not_there(store, names, message):
    both(store, "a", "a")
    with pytest.raises(InputError, match=message):
        agreement(store, **names)


# Files


def test_markdown(store):
    filled(store)
    say(store, query_id="gone", note="first line\nsecond *line*\n\n# no heading", tag="other")
    found = notes_export.as_markdown(view(store))
    assert found.startswith(
        "# Notes on Worked example\n\n8 notes by ann, bob\n\n## Main task\n\n### wrong sibling (3)\n"
    )
    assert (
        "#### q1 · en\n\n> a heart\n\n"
        r"* en → fr · DENSE · ann · 2026-01-01" + "\n"
        r"* en → fr · DENSE · bob · 2026-01-01" + "\n"
    ) in found
    assert (
        "#### gone · en\n\n*The query is not stored any more.*\n\n* en → fr · DENSE · ann · 2026-01-01\n"
        "  > first line\\\n  > second \\*line\\*\n  >\n  > \\# no heading\n"
    ) in found
    assert "### notes without a tag (1)\n\n#### q3 · en\n\n> a lung\n\n* ann · 2026-01-01\n  > a note alone\n" in found
    assert "## One more\n" in found


def test_markdown_without_notes(store):
    assert notes_export.as_markdown(view(store)) == "# Notes on Worked example\n\n0 notes by nobody\n"


HOSTILE = st.text(
    st.one_of(st.sampled_from("<>&*_`#[]()!|~$:\\\"'-+=.@ \n\r\t1a"), st.characters(exclude_categories=("Cs",))),
    max_size=60,
)


@given(HOSTILE, st.sampled_from(["", "    ", "> ", "1. ", "- ", "| a |\n|---|\n", "```\n", "<b>", "[x]: y", "&lt;"]))
def test_in_markdown_a_text_stays_a_text(text, before):
    """Rendered, a note is the lines it was typed in, and nothing of it is a link, a heading, code or HTML."""
    markdown_it = pytest.importorskip("markdown_it")
    note = before + text
    reader = markdown_it.MarkdownIt("commonmark").enable(["table", "strikethrough"])
    tokens = reader.parse("\n".join(["* point", *notes_export._note_lines(note)]))
    allowed = {"bullet_list", "list_item", "paragraph", "blockquote"}
    assert {token.type.rsplit("_", 1)[0] for token in tokens if token.type != "inline"} <= allowed
    inline = [token for token in tokens if token.type == "inline"][1:]
    assert {child.type for token in inline for child in token.children} <= {"text", "text_special", "hardbreak"}
    shown = [line for token in inline for line in "".join(c.content or "\n" for c in token.children).split("\n")]
    plain = (
        notes_export.CONTROL.sub("\ufffd", notes_export.SPACE.sub(" ", line)).strip() for line in note.splitlines()
    )
    assert [line for line in shown if line] == [line for line in plain if line]
