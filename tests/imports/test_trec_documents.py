"""Documents in TREC's SGML."""

import gzip
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import InputError
from analysis.imports import folder as folders
from analysis.imports import trec_documents
from analysis.imports.faults import Faults
from analysis.imports.parts import Options
from tests.hand_made import state
from tests.imports.imported import lines, round_trip, stored, written

DOCUMENTS = """<DOC>
<DOCNO> FT911-1 </DOCNO>
<DATE>910514</DATE>
<HEADLINE>
FT  14 MAY 91 / A heart
</HEADLINE>
<TEXT>
<P>
Hearts at AT&amp;T &hyph2; p<0.05 &amp
</P><!-- PJG 0012 -->
<F P=105>attack</F> <script>x</script>
</TEXT>
<TEXT>Second part.</TEXT>
</DOC>

<DOC><DOCNO>la#2</DOCNO><LANG>es</LANG><TEXT></TEXT></DOC> <DOC id="3"><DOCNO>3</DOCNO>loose<TEXT>x</TEXT></DOC>
"""
TOPICS = "1\theart attack\n"


@pytest.fixture
def folder(tmp_path):
    """Documents with a topic and a judgement."""

    def made(documents=DOCUMENTS, *, name="documents.sgml"):
        files = {name: documents, "topics.tsv": TOPICS, "qrels.txt": "1 0 FT911-1 1\n"}
        return written(tmp_path / "mine", files)

    return made


def read(path, **options):
    languages = {"query_language": "en", "document_language": "en"}
    return folders.read(path, options=Options(format="trec", **languages, **options))


@pytest.mark.parametrize("name", ["documents.sgml", "corpus.txt.gz", "documents.trec", "corpus.xml"])
def test_a_document_has_its_id_title_text_and_language(folder, name):
    found = read(folder(gzip.compress(DOCUMENTS.encode(), mtime=0) if name.endswith(".gz") else DOCUMENTS, name=name))
    text = "FT 14 MAY 91 / A heart Hearts at AT&T &hyph2; p<0.05 &amp attack <script>x</script> Second part."
    assert [(row.id, row.language, row.text) for row in found.documents] == [
        ("FT911-1", "en", text),
        ("la#2", "es", ""),
        ("3", "en", "x"),
    ]
    assert found.ignored == {"date": 1, "text outside its elements": 1}
    assert found.empty == ("la#2",)


def test_documents_of_hc4_are_lines_of_json(folder):
    rows = [{"id": "a", "cc_file": "x.warc", "title": "T", "text": "heart attack"}]
    path = folder(lines(rows), name="corpus.jsonl")
    found = read(path)
    assert (found.documents[0].id, found.documents[0].text) == ("a", "T heart attack")
    assert found.ignored == {"cc_file": 1}


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="<>&\r")), min_size=1, max_size=4))
def test_texts_without_markup_keep_all_but_their_layout(tmp_path_factory, texts):
    content = "".join(f"<DOC>\n<DOCNO>{n}</DOCNO>\n<TEXT>{text}</TEXT></DOC>\n" for n, text in enumerate(texts))
    path = tmp_path_factory.mktemp("any") / "d.sgml"
    path.write_bytes(content.encode())
    found = [record for _, record in trec_documents.read(path, faults=Faults(lenient=False))]
    assert [record["text"] for record in found] == [re.sub(r"[ \t\n\f\v]+", " ", text).strip(" ") for text in texts]
    assert [record["_id"] for record in found] == [str(n) for n in range(len(texts))]


FAULTS = [
    ("cut", "<DOC>\n<DOCNO>1</DOCNO>\n<TEXT>x", "line 1: the document has no end, expected </DOC>"),
    (
        "one in another",
        "<DOC><DOCNO>1</DOCNO><TEXT>x</TEXT>\n<DOC><DOCNO>2</DOCNO><TEXT>y</TEXT></DOC>",
        "line 1: the document has no end, expected </DOC>",
    ),
    ("no beginning", "\n</DOC>", "line 2: </DOC> without a beginning, expected <DOC>"),
    ("no document", "just\ntext\n", "line 1: 'just' outside a document, expected <DOC> (1 more faults)"),
    ("no id", "<DOC><TEXT>x</TEXT></DOC>", "line 1: document has text, expected DOCNO"),
    ("no text", "<DOC><DOCNO>1</DOCNO><BODY>x</BODY></DOC>", "line 1: document '1' has docno, body, expected TEXT"),
    ("nothing in it", "<DOC>x</DOC>", "line 1: document has no elements, expected DOCNO"),
    ("blank id", "<DOC><DOCNO> </DOCNO><TEXT>x</TEXT></DOC>", "line 1: _id is blank, expected an id"),
    (
        "twice",
        "".join(f"<DOC><DOCNO>1</DOCNO><TEXT>{text}</TEXT></DOC>\n" for text in "xy"),
        "line 2: document id '1' has another text than in line 1; expected one row for each id",
    ),
    ("Latin-1", "<DOC>\n<DOCNO>1</DOCNO><TEXT>é</TEXT></DOC>".encode("latin-1"), "line 2: byte 0xE9, expected UTF-8"),
]


@pytest.mark.parametrize(("content", "message"), [fault[1:] for fault in FAULTS], ids=[f[0] for f in FAULTS])
def test_a_fault_is_one_sentence_and_nothing_is_stored(folder, kept, content, message):
    cache, before = kept
    path = folder(content)
    languages = {"query_language": "en", "document_language": "en"}
    with pytest.raises(InputError) as error:
        stored(cache, path, name="faulty", format="trec", **languages)
    assert str(error.value) == f"{path}/documents.sgml, {message}"
    assert state(cache.root) == before


def test_two_files_of_documents_are_refused(folder):
    path = folder()
    (path / "corpus.jsonl").write_text("{}")
    with pytest.raises(InputError, match=r"found corpus\.jsonl, documents\.sgml, expected one corpus\.jsonl or"):
        read(path)


@pytest.mark.slow
def test_documents_exported_as_beir_and_imported_again_give_the_same_measures(folder, tmp_path):
    languages = ("--query-language", "en", "--document-language", "en")
    first, second = round_trip(folder(), tmp_path, "--format", "trec", *languages)
    assert first == second
    assert first[0]["rr"] == 1
