"""One tag a language, whatever a file calls it; names; the script of a text."""

import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import InputError
from analysis.languages import (
    LANGUAGE_NAMES,
    SCRIPTS,
    canonical,
    language_name,
    script_of,
    suspicious,
    together,
)

# ISO 639-1 and the terminological code of ISO 639-2, as the Library of Congress lists them.
ISO_639_LINES = """
aa:aar ab:abk ae:ave af:afr ak:aka am:amh an:arg ar:ara as:asm av:ava ay:aym az:aze ba:bak be:bel bg:bul
bi:bis bm:bam bn:ben bo:bod br:bre bs:bos ca:cat ce:che ch:cha co:cos cr:cre cs:ces cu:chu cv:chv cy:cym
da:dan de:deu dv:div dz:dzo ee:ewe el:ell en:eng eo:epo es:spa et:est eu:eus fa:fas ff:ful fi:fin fj:fij
fo:fao fr:fra fy:fry ga:gle gd:gla gl:glg gn:grn gu:guj gv:glv ha:hau he:heb hi:hin ho:hmo hr:hrv ht:hat
hu:hun hy:hye hz:her ia:ina id:ind ie:ile ig:ibo ii:iii ik:ipk io:ido is:isl it:ita iu:iku ja:jpn jv:jav
ka:kat kg:kon ki:kik kj:kua kk:kaz kl:kal km:khm kn:kan ko:kor kr:kau ks:kas ku:kur kv:kom kw:cor ky:kir
la:lat lb:ltz lg:lug li:lim ln:lin lo:lao lt:lit lu:lub lv:lav mg:mlg mh:mah mi:mri mk:mkd ml:mal mn:mon
mr:mar ms:msa mt:mlt my:mya na:nau nb:nob nd:nde ne:nep ng:ndo nl:nld nn:nno no:nor nr:nbl nv:nav ny:nya
oc:oci oj:oji om:orm or:ori os:oss pa:pan pi:pli pl:pol ps:pus pt:por qu:que rm:roh rn:run ro:ron ru:rus
rw:kin sa:san sc:srd sd:snd se:sme sg:sag si:sin sk:slk sl:slv sm:smo sn:sna so:som sq:sqi sr:srp ss:ssw
st:sot su:sun sv:swe sw:swa ta:tam te:tel tg:tgk th:tha ti:tir tk:tuk tl:tgl tn:tsn to:ton tr:tur ts:tso
tt:tat tw:twi ty:tah ug:uig uk:ukr ur:urd uz:uzb ve:ven vi:vie vo:vol wa:wln wo:wol xh:xho yi:yid yo:yor
za:zha zh:zho zu:zul
"""
BIBLIOGRAPHIC_LINES = """
bo:tib cs:cze cy:wel de:ger el:gre eu:baq fa:per fr:fre hy:arm is:ice ka:geo mk:mac mi:mao ms:may my:bur
nl:dut ro:rum sk:slo sq:alb zh:chi
"""
ISO_639 = dict(pair.split(":") for pair in ISO_639_LINES.split())
BIBLIOGRAPHIC = dict(pair.split(":") for pair in BIBLIOGRAPHIC_LINES.split())

spellings = st.sampled_from(
    [*ISO_639, *ISO_639.values(), "cmn", "arb", "yue", "nan", "prs", "azb", "und", "mul", "jp", "cn", "iw", "tlh"]
)
scripts = st.sampled_from(["", "Latn", "Cyrl", "Arab", "Deva", "Hans", "Hant", "Hani", "Jpan", "Kore", "Hang", "Hebr"])
regions = st.sampled_from(["", "CN", "TW", "HK", "US", "PK", "RS", "ME", "JP", "419", "XX"])


@st.composite
def tags(draw):
    """A tag in any case, with either separator."""
    parts = [draw(spellings), draw(scripts), draw(regions)]
    tag = draw(st.sampled_from("-_")).join(part for part in parts if part)
    return draw(st.sampled_from([str, str.lower, str.upper]))(tag)


def test_every_language_of_iso_639_1_is_itself_and_what_its_longer_codes_mean():
    assert len(ISO_639) == 183
    assert {tag: canonical(tag).tag for tag in ISO_639} == {tag: tag for tag in ISO_639}
    assert {tag: canonical(code).tag for tag, code in ISO_639.items()} == {tag: tag for tag in ISO_639}
    assert {tag: canonical(code).tag for tag, code in BIBLIOGRAPHIC.items()} == {tag: tag for tag in BIBLIOGRAPHIC}
    assert {tag for tag in ISO_639 if canonical(tag).notice} == {"kr"}


@given(tags())
def test_a_shortest_tag_is_its_own(raw):
    tag = canonical(raw).tag
    assert canonical(tag).tag == tag
    assert re.fullmatch("[a-z]{2,3}(-[A-Z][a-z]{3})?", tag)


@given(tags())
def test_case_and_separator_say_nothing(raw):
    assert canonical(raw.swapcase().replace("_", "-")).tag == canonical(raw).tag == canonical(f" {raw}\n").tag


@pytest.mark.parametrize(
    ("raw", "tag"),
    [
        ("eng-Latn", "en"),
        ("zho_Hans", "zh"),
        ("zh-CN", "zh"),
        ("cmn", "zh"),
        ("zh-cmn", "zh"),
        ("zh-TW", "zh-Hant"),
        ("zh_hk", "zh-Hant"),
        ("zh-Hans-HK", "zh"),  # what is said counts more than what is implied
        ("cmn-Hant-CN", "zh-Hant"),
        ("yue", "yue"),
        ("zh-yue", "yue"),
        ("zh-min-nan", "nan"),
        ("es-419", "es"),
        ("es_XX", "es"),
        ("pt-BR", "pt"),
        ("en-UK", "en"),  # no region of ISO 3166, and dropped like any other
        ("sr-Latn", "sr-Latn"),
        ("sr-Cyrl", "sr"),
        ("pa-PK", "pa-Arab"),
        ("hi-Latn", "hi-Latn"),
        ("kor-Hang", "ko"),
        ("zho-Hani", "zh"),
        ("urd-Aran", "ur"),
        ("arb_Arab", "ar"),
        ("pes", "fa"),
        ("prs_Arab", "prs"),
        ("azb_Arab", "azb-Arab"),  # Azerbaijani has two scripts: none is usual for one without an entry
        ("kmr", "ku"),
        ("fil", "fil"),
        ("tgl", "tl"),
        ("i-klingon", "tlh"),
        ("und", "und"),
        ("und-Cyrl", "und-Cyrl"),
        ("und-JP", "und"),
        ("English", "en"),
        ("JAPANESE", "ja"),
        ("simplified_chinese", "zh"),
        ("Chinese (Traditional)", "zh-Hant"),
        ("Greek, Modern", "el"),
        ("Norwegian Bokmål", "nb"),
        ("Thai", "th"),
        ("farsi", "fa"),
    ],
)
def test_spellings_of_one_language(raw, tag):
    assert canonical(raw) == (tag, None)


@pytest.mark.parametrize(
    ("raw", "tag", "notice"),
    [
        ("jp", "ja", "jp is a country's code, taken as ja (Japanese)"),
        ("JP-jp", "ja", "JP-jp is a country's code, taken as ja (Japanese)"),
        ("cn", "zh", "cn is a country's code, taken as zh (Chinese)"),
        ("iw", "he", "iw is a withdrawn code, taken as he (Hebrew)"),
        ("in-Latn", "id", "in-Latn is a withdrawn code, taken as id (Indonesian)"),
        ("kr", "kr", "kr is Kanuri; was Korean (ko) meant?"),
        ("kau", "kr", None),
        ("Kanuri", "kr", None),
        ("de-CH-1996", "de", "de-CH-1996 is taken as de (German), without 1996"),
        ("en-x-old", "en", "en-x-old is taken as en (English), without x-old"),
    ],
)
def test_what_is_repaired_or_doubtful_is_told(raw, tag, notice):
    assert canonical(raw) == (tag, notice)


@pytest.mark.parametrize(
    "raw",
    ["", " ", "-", "e", "xx", "dk", "xyz", "qaa", "x-mine", "root", "abcd", "en-Abcd", "en-Latnx", "zh-CHS", "en,fr",
     "рус", "日本語", "Englisch language", "klingonish", "unknown", "\x00", "\ud800"],
)  # fmt: skip
def test_what_is_assigned_to_no_language_is_an_error(raw):
    with pytest.raises(InputError, match="expected an ISO 639 code such as ru") as error:
        canonical(raw)
    assert str(error.value).startswith(f"language {raw!r}:")


@given(st.text(max_size=12) | st.text("aehnqtzXTW1-_ ", max_size=16))
def test_any_text_is_a_language_or_an_error(raw):
    try:
        found = canonical(raw)
    except InputError:
        return
    assert canonical(found.tag).tag == found.tag


def test_two_scripts_of_one_language_are_both_written():
    assert together(["zh", "zh-Hant", "ja", "sr-Latn"]) == {
        "zh": "zh-Hans", "zh-Hant": "zh-Hant", "ja": "ja", "sr-Latn": "sr-Latn"
    }  # fmt: skip
    assert together(["zh-CN", "zho", "en"]) == {"zh-CN": "zh", "zho": "zh", "en": "en"}
    assert together(["zh-TW", "zh-HK"]) == {"zh-TW": "zh-Hant", "zh-HK": "zh-Hant"}
    assert together(["und", "und-Cyrl"]) == {"und": "und", "und-Cyrl": "und-Cyrl"}
    assert together([]) == {}
    with pytest.raises(InputError, match="'xx'"):
        together(["en", "xx"])


@given(st.lists(tags(), unique=True))
def test_writing_languages_together_keeps_them_apart(raw):
    written = together(raw)
    assert list(written) == raw
    assert len(set(written.values())) == len({canonical(tag).tag for tag in raw})
    assert all(canonical(tag).tag == canonical(given).tag for given, tag in written.items())
    assert {tag: tag for tag in written.values()} == together(set(written.values()))


def test_languages_have_english_names():
    assert [language_name(tag) for tag in ("en", "zh", "ja", "ru")] == ["English", "Chinese", "Japanese", "Russian"]
    assert [language_name(tag) for tag in ("tlh", "yue", "mul")] == ["Klingon", "Cantonese", "Multiple languages"]
    assert language_name("zh-Hant") == "Chinese (Traditional)"
    assert language_name("hi-Latn") == "Hindi (Latin)"
    assert [language_name(tag) for tag in ("xx", "jp", "qaa", "", "of doctors")] == [
        "xx",
        "jp",
        "qaa",
        "",
        "of doctors",
    ]
    assert all(canonical(tag).tag == tag for tag in LANGUAGE_NAMES)
    names = [language_name(tag) for tag in ISO_639]
    assert len(set(names)) == len(names)
    assert not set(names) & set(ISO_639)


@pytest.mark.parametrize("tag", sorted(ISO_639))
def test_a_language_is_known_by_its_own_name(tag):
    assert canonical(language_name(tag)).tag == tag


def test_the_usual_names_load_no_library():
    code = (
        "import sys; from analysis.languages import LANGUAGE_NAMES, language_name; "
        "[language_name(tag) for tag in LANGUAGE_NAMES]; print({'langcodes', 'language_data'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# Article 1 of the Universal Declaration of Human Rights, its first words.
@pytest.mark.parametrize(
    ("text", "script", "tag"),
    [
        ("All human beings are born free", "Latn", "en"),
        ("Все люди рождаются свободными", "Cyrl", "ru"),
        ("Όλοι οι άνθρωποι γεννιούνται ελεύθεροι", "Grek", "el"),
        ("يولد جميع الناس أحرارًا", "Arab", "ar"),
        ("כל בני האדם נולדו בני חורין", "Hebr", "he"),
        ("सभी मनुष्यों को गौरव", "Deva", "hi"),
        ("সমস্ত মানুষ স্বাধীনভাবে", "Beng", "bn"),
        ("ਸਾਰਾ ਮਨੁੱਖੀ ਪਰਿਵਾਰ", "Guru", "pa"),
        ("பிறவியினர் சகலரும்", "Taml", "ta"),
        ("ప్రతిపత్తిస్వత్వముల", "Telu", "te"),
        ("เราทุกคนเกิดมาอย่างอิสระ", "Thai", "th"),
        ("ሁሉም ሰዎች ነፃ", "Ethi", "am"),
        ("ყველა ადამიანი იბადება", "Geor", "ka"),
        ("Բոլոր մարդիկ ծնվում են", "Armn", "hy"),
        ("모든 인간은 태어날 때부터", "Hang", "ko"),
        ("人人生而自由", "Hani", "zh"),
        ("すべての人間は、生まれながらにして自由", "Jpan", "ja"),
        ("ｱﾚﾙｷﾞｰ", "Jpan", "ja"),  # half width
        ("ＨＥＲ２", "Latn", "en"),  # full width
        ("急性心筋梗塞", "Hani", "ja"),  # a title without kana
        ("COVID-19 の 治療 と 予防 に ついて", "Jpan", "ja"),
    ],
)
def test_the_script_of_a_text(text, script, tag):
    assert script_of(text) == script
    assert suspicious(text, tag) is None
    other = "en" if script != "Latn" else "ja"
    assert suspicious(text, other) is not None


def test_a_text_in_no_script():
    assert [script_of(text) for text in ("", " ", "120 / 80 %", "→ ①", "\u0301")] == [None] * 5
    assert suspicious("120 / 80 %", "ja") is None


def test_the_script_of_most_letters_counts():
    assert script_of("aб") == "Latn"  # a tie: the first
    assert script_of("ба a") == "Cyrl"
    assert script_of("病" * 20 + "の") == "Hani"  # one kana in twenty Han: a quotation
    assert script_of("病" * 10 + "の") == "Jpan"


def test_a_text_in_a_script_its_language_is_not_written_in_is_suspicious():
    assert suspicious("heart attack", "ja") == (
        "the text is in Latin script, while Japanese (ja) is usually written in Japanese script"
    )
    assert suspicious("инфаркт", "zh-Hant") == (
        "the text is in Cyrillic script, while Chinese (Traditional) (zh-Hant) is usually written in Han script"
    )
    assert suspicious("инфаркт", "sr") is suspicious("infarkt", "sr") is None  # both are in use
    assert suspicious("инфаркт", "sr-Latn") is not None
    assert suspicious("heart", "sr-Cyrl") is not None
    assert suspicious("すべての", "zh") is not None
    assert suspicious("heart", "und") is suspicious("heart", "azb") is None  # nothing is known


@given(st.text())
def test_a_script_is_one_that_the_text_has(text):
    found = script_of(text)
    assert found in {None, *SCRIPTS.values()}
    assert (script_of(text * 2), script_of(text + " 1 ")) == (found, found)
