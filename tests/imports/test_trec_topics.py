"""TREC topics: XML, SGML and lines of JSON beside a corpus."""

import gzip

import pytest

from analysis.errors import InputError
from analysis.imports import folder as folders
from analysis.imports.parts import Options
from analysis.imports.report import report
from tests.hand_made import state
from tests.imports.imported import CORPUS, grades, lines, round_trip, stored, task_of, written

XML = """<?xml version="1.0" encoding="ISO-8859-1"?>
<topics task="COVID" batch="1">
  <topic number="1">
    <query>heart &amp; attack</query>
    <question>what is a
      heart attack</question>
    <narrative>Any text on <i>hearts</i>.</narrative>
  </topic>
  <topic number="02" xml:lang="es"><query>infarto</query><question>qué es</question><narrative/></topic>
</topics>
"""
SGML = """
<top>
<num> Number: 301
<title> heart <attack> & AT&T

<desc> Description:
What is a heart
attack?

<narr> Narrative:
Hearts only: <b>no</b> others.
</top>

<TOP lang="es">
<NUM> Number: 02 </NUM>
<TITLE> Topic:  infarto </TITLE>
<DESC>¿Qué es?</DESC> Más.
</TOP>
"""
VERSIONS = [
    {
        "topic_id": "1",
        "languages_with_qrels": ["zho"],
        "topics": [
            {"lang": "eng", "source": "original", "topic_title": "heart attack", "topic_description": "What of it?"},
            {"lang": "zho", "source": "human translation", "topic_title": "心肌梗塞", "topic_description": "什么"},
            {"lang": "zho", "source": "2022-sockeye", "topic_title": "心脏病发作", "topic_description": "什么?"},
            {"lang": "spa", "source": "human translation", "topic_title": "infarto", "topic_description": "¿Qué?"},
        ],
        "narratives": {"eng": "long"},
        "report": {"url": "x"},
    },
    {"topic_id": 2, "topics": [{"lang": "eng", "source": "original", "topic_title": "bone", "topic_description": "?"}]},
    {"topic_id": "3", "topics": [{"lang": t, "topic_title": t, "topic_description": "?"} for t in ("eng", "spa")]},
]
QRELS = "1 0 d1 1\n02 0 d2 1\n"


@pytest.fixture
def folder(tmp_path):
    """A corpus with topics and qrels."""

    def made(topics, *, name="topics.xml", qrels=QRELS):
        return written(tmp_path / "mine", {"corpus.jsonl": lines(CORPUS), name: topics, "qrels.txt": qrels})

    return made


def read(path, **options):
    return folders.read(path, options=Options(format="trec", query_language="en", **options))


def shown(found):
    return [(query.id, query.language, query.text) for query in found.queries]


# XML


@pytest.mark.parametrize(
    ("field", "texts"),
    [
        ("title", ["heart & attack", "infarto"]),
        ("desc", ["what is a heart attack", "qué es"]),
        ("narr", ["Any text on hearts.", ""]),
    ],
)
def test_topics_in_xml_have_the_chosen_text_and_the_rest_as_attributes(folder, field, texts):
    found = read(folder(XML), topic_field=field)
    assert shown(found) == [("1", "en", texts[0]), ("02", "es", texts[1])]
    attributes = {"query": "heart & attack", "question": "what is a heart attack", "narrative": "Any text on hearts."}
    own = {"title": "query", "desc": "question", "narr": "narrative"}[field]
    assert found.notices == {f"topics whose text is their {own} (--topic-field)": 2}
    assert found.queries[0].attributes == {name: text for name, text in attributes.items() if name != own}
    assert [(row.query_id, row.document_id) for row in found.judgements] == [("1", "d1"), ("02", "d2")]


@pytest.mark.parametrize(
    "topics",
    [
        "<topics><topic number='1'>heart attack</topic></topics>",
        "<parameters><query><number>1</number><text>heart attack</text></query></parameters>",
        "<topics><top lang='en'><num>1</num><title>heart\nattack</title></top></topics>",
        "<x><TOPIC><IDENTIFIER>1</IDENTIFIER><TITLE><![CDATA[heart attack]]></TITLE></TOPIC></x>",
        "<!DOCTYPE topics><topics><!-- one --><topic id='1'><title>heart&#32;attack</title></topic></topics>",
        "\ufeff<topics>\r<topic number='1'>\r<title>heart\rattack</title></topic>\r</topics>\r",
    ],
    ids=["text alone", "Indri", "FIRE", "CLEF", "doctype", "carriage returns"],
)
def test_the_shapes_of_xml_topics(folder, topics):
    found = read(folder(topics, name="queries.txt.gz" if "Indri" in topics else "topics.xml"))
    assert shown(found)[0] == ("1", "en", "heart attack")


def test_what_stands_twice_and_attributes_of_elements_are_kept(folder):
    topic = '<subtopic number="1" type="inf">a</subtopic><subtopic number="2" type="nav">b</subtopic>'
    found = read(folder(f'<w><topic number="1" type="faceted"><query>heart</query>{topic}</topic></w>'))
    assert found.queries[0].attributes == {
        "type": "faceted",
        "subtopic": '["a", "b"]',
        "subtopic.number": '["1", "2"]',
        "subtopic.type": '["inf", "nav"]',
    }


def test_another_field_may_be_the_text(folder):
    path = folder(
        "<t><topic number='1'><disease>heart attack</disease><gene>BRAF</gene></topic></t>", qrels="1 0 d1 1\n"
    )
    assert shown(read(path, renamed={"disease": "text"})) == [("1", "en", "heart attack")]


# SGML


@pytest.mark.parametrize(
    ("field", "texts"),
    [
        ("title", ["heart <attack> & AT&T", "infarto"]),
        ("desc", ["What is a heart attack?", "¿Qué es? Más."]),
    ],
)
def test_topics_in_sgml_lose_their_labels_and_keep_their_marks(folder, field, texts):
    found = read(folder(SGML, name="301-302.topics.txt", qrels="301 0 d1 1\n02 0 d2 1\n"), topic_field=field)
    assert shown(found) == [("301", "en", texts[0]), ("02", "es", texts[1])]
    assert found.queries[0].attributes["narr"] == "Hearts only: <b>no</b> others."
    assert (found.without_text, report(found).doubts.near_duplicate_query_ids.n) == ((), 0)


def test_an_id_with_another_number_of_zeros_is_reported_and_never_taken_for_it(folder):
    found = report(read(folder(SGML, name="topics.txt", qrels="301 0 d1 1\n2 0 d2 1\n")))
    assert found.doubts.judgements_without_query.examples == ("2",)
    assert found.doubts.near_duplicate_query_ids.examples == ("'02' ~ '2'",)


# Lines of JSON


def test_versions_of_a_topic_are_a_family_and_share_its_judgements(folder, cache):
    path = folder(
        lines(VERSIONS), name="dev.topics.v1.jsonl.gz", qrels="1 0 d1 2\n1 0 d2 0\n2 0 d3 1\n3 0 d3 1\n9 0 d1 1\n"
    )
    (path / "dev.topics.v1.jsonl.gz").write_bytes(gzip.compress(lines(VERSIONS).encode()))
    stored(cache, path, format="trec", query_language="en")
    store, task = task_of(cache)
    queries = store.queries(task.task_id)
    assert [*zip(queries.id, queries.language, queries.family, queries.text, strict=True)] == [
        ("1:eng", "en", "1", "heart attack"),
        ("1:zho:human translation", "zh", "1", "心肌梗塞"),
        ("1:zho:2022-sockeye", "zh", "1", "心脏病发作"),
        ("1:spa", "es", "1", "infarto"),
        ("2", "en", "2", "bone"),
        ("3:eng", "en", "3", "eng"),
        ("3:spa", "es", "3", "spa"),
        ("9", "en", "9", ""),
    ]
    assert list(queries.attributes["source"])[:4] == [
        "original",
        "human translation",
        "2022-sockeye",
        "human translation",
    ]
    assert queries.attributes["topic_description"][3] == "¿Qué?"
    versions = [name for name in queries.id if name.startswith("1:")]
    assert grades(store, task) == {
        **{(name, "d1"): 2 for name in versions},
        **{(name, "d2"): 0 for name in versions},
        ("2", "d3"): 1,
        ("3:eng", "d3"): 1,
        ("3:spa", "d3"): 1,
        ("9", "d1"): 1,
    }
    notices = store.benchmark("mine").settings["tasks"]["main"]["report"]["notices"]
    assert notices == {
        "topics whose text is their topic_title (--topic-field)": 3,
        "topics whose field 'narratives' is not kept": 1,
        "topics whose field 'report' is not kept": 1,
    }


def test_the_description_may_be_the_text_of_versions_and_of_plain_lines(folder):
    found = read(folder(lines(VERSIONS[:1]), name="topics.jsonl"), topic_field="desc")
    assert [query.text for query in found.queries][:4] == ["What of it?", "什么", "什么?", "¿Qué?"]
    assert found.queries[0].attributes["topic_title"] == "heart attack"
    plain = [{"qid": 1, "query": "heart", "description": "What?", "language": "english"}]
    assert shown(read(folder(lines(plain), name="topics.jsonl")))[0] == ("1", "en", "heart")
    assert shown(read(folder(lines(plain), name="topics.jsonl"), topic_field="desc"))[0] == ("1", "en", "What?")


# What is refused

LAUGHS = """<!DOCTYPE t [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>
<t><topic number="1"><title>&b;</title></topic></t>"""
OUTSIDE = """<!DOCTYPE t [
<!ENTITY x SYSTEM "file:///etc/passwd">
]>
<t><topic number="1"><title>&x;</title></topic></t>"""
REMOTE = """<!DOCTYPE t SYSTEM "http://127.0.0.1:9/t.dtd">
<t><topic number="1"><title>caf&eacute;</title></topic></t>"""
PARAMETER = """<!DOCTYPE t [<!ENTITY % x "y">]><t/>"""
IN_XML = "expected topics in XML"
FAULTS = [
    ("entities", "topics.xml", LAUGHS, {}, "line 1: entity 'a' is declared, expected none"),
    ("entity of a file", "topics.xml", OUTSIDE, {}, "line 2: entity 'x' is declared, expected none"),
    ("parameter entity", "topics.xml", PARAMETER, {}, "line 1: entity 'x' is declared, expected none"),
    (
        "entity from elsewhere",
        "topics.xml",
        REMOTE,
        {},
        "line 2: entity 'eacute' is not known, expected the character itself",
    ),
    (
        "unknown entity",
        "topics.xml",
        "<t>\n<topic number='1'><title>a&nbsp;b</title></topic></t>",
        {},
        f"line 2: undefined entity, {IN_XML}",
    ),
    ("cut", "topics.xml", XML[:200], {}, f"line 7: unclosed token, {IN_XML}"),
    ("closed otherwise", "topics.xml", "<t><topic></t>", {}, f"line 1: mismatched tag, {IN_XML}"),
    ("two roots", "topics.xml", "<topic number='1'/>\n<topic/>", {}, f"line 2: junk after document element, {IN_XML}"),
    (
        "text between",
        "topics.xml",
        "<t>\n<topic number='1'>x</topic> and\n</t>",
        {},
        "line 2: 'and' outside a topic, expected topics only",
    ),
    (
        "no title",
        "topics.xml",
        "<t>\n<topic number='7'><desc>x</desc></topic></t>",
        {},
        "line 2: topic '7' has number, desc, expected one of title, query, topic_title, text (--topic-field)",
    ),
    ("no id", "topics.xml", "<t><topic><title>x</title></topic></t>", {}, "line 1: _id is missing, expected an id"),
    (
        "two titles",
        "topics.xml",
        "<t><topic id='1'><title>x</title><title>y</title></topic></t>",
        {},
        'line 1: text ["x", "y"], expected a string',
    ),
    ("SGML cut", "topics.txt", SGML.partition("</TOP>")[0], {}, "line 14: the topic has no end, expected </top>"),
    (
        "SGML between",
        "topics.txt",
        SGML.replace("\n<TOP", "\nmore\n<TOP"),
        {},
        "line 14: 'more' outside a topic, expected <top>",
    ),
    (
        "SGML without",
        "topics.txt",
        SGML,
        {"topic_field": "narr"},
        "line 14: topic '02' has language, num, title, desc, expected one of narr, narrative (--topic-field)",
    ),
    ("topic id", "topics.jsonl", '{"topics": [{"lang": "eng"}]}', {}, "line 1: topic_id is missing, expected an id"),
    (
        "no versions",
        "topics.jsonl",
        '{"topic_id": "1", "topics": []}',
        {},
        "line 1: topics of topic '1', expected a list of objects with lang, source and topic_title",
    ),
    (
        "version without",
        "topics.jsonl",
        lines([{"topic_id": "1", "topics": [{"lang": "eng", "topic_title": "x"}]}]),
        {"topic_field": "desc"},
        "line 1: '1' has no topic_description, expected one (--topic-field)",
    ),
    (
        "version twice",
        "topics.jsonl",
        lines([{"topic_id": "1", "topics": [{"lang": "eng", "topic_title": text} for text in "xy"]}]),
        {},
        "line 1: query id '1:eng:' has another text than in line 1; expected one row for each id",
    ),
    (
        "TSV without a header",
        "topics.tsv",
        "1\tx\n",
        {"topic_field": "desc"},
        "line 1: '1\\tx', expected a header with an id and desc or description or question or topic_description "
        "(--topic-field)",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "topics", "options", "message"), [fault[1:] for fault in FAULTS], ids=[fault[0] for fault in FAULTS]
)
def test_a_fault_is_one_sentence_and_nothing_is_stored(folder, kept, name, topics, options, message):
    cache, before = kept
    path = folder(topics, name=name)
    with pytest.raises(InputError) as error:
        stored(cache, path, name="faulty", format="trec", query_language="en", **options)
    assert str(error.value) == f"{path}/{name}, {message}"
    assert state(cache.root) == before


def test_a_topic_field_is_for_trec(folder, tmp_path):
    with pytest.raises(InputError, match=r"--topic-field: format beir, expected trec"):
        folders.read(folder(XML), options=Options(topic_field="desc"))


def test_lenient_drops_what_is_no_topic(folder):
    topics = SGML + "more\n<top><num>3<desc>x</top>\n<top><num>4<title>cut"
    found = read(folder(topics, name="topics.txt"), lenient=True)
    assert [query.id for query in found.queries][:2] == ["301", "02"]
    assert [(mended.kind, mended.n) for mended in found.faults.mended()] == [
        ("text outside a topic dropped", 1),
        ("query dropped", 2),
    ]


# Out and in again


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "topics", "first_id"),
    [("topics.xml", XML, "1"), ("topics.txt", SGML, "301"), ("topics.jsonl", lines(VERSIONS), "1:eng")],
)
def test_topics_exported_as_beir_and_imported_again_give_the_same_measures(folder, tmp_path, name, topics, first_id):
    path = folder(topics, name=name, qrels="1 0 d1 1\n301 0 d1 1\n02 0 d2 1\n")
    first, second = round_trip(path, tmp_path, "--format", "trec", "--query-language", "en")
    assert first == second
    assert {row["query_id"]: row["recall_at_10"] for row in first}[first_id] == 1


def test_an_id_in_a_tsv_may_look_like_markup(folder):
    found = read(folder("<top>\theart\n{\tbone\n", name="topics.tsv", qrels="<top> 0 d1 1\n"))
    assert shown(found) == [("<top>", "en", "heart"), ("{", "en", "bone")]
