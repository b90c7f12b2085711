"""Languages: one tag for each, whatever a file calls it, its English name, and the script that a text is in.

Codes, scripts and names are those of the IANA registry and Unicode CLDR, as ``langcodes`` and ``language_data`` carry
them; both are loaded at the first use that needs them.
Codes that ISO 639-3 gave out after 2021 are not known yet.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from analysis.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection

LANGUAGE_NAMES = {
    "ar": "Arabic", "bn": "Bengali", "cs": "Czech", "de": "German", "el": "Greek", "en": "English",
    "es": "Spanish", "fa": "Persian", "fi": "Finnish", "fr": "French", "he": "Hebrew", "hi": "Hindi",
    "id": "Indonesian", "it": "Italian", "ja": "Japanese", "ko": "Korean", "nl": "Dutch", "pl": "Polish",
    "pt": "Portuguese", "ru": "Russian", "sw": "Swahili", "te": "Telugu", "th": "Thai", "tr": "Turkish",
    "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese", "yo": "Yoruba", "zh": "Chinese",
}  # fmt: skip
"""The languages of most benchmarks, so that a page with these alone loads no library."""

COUNTRIES = {"cn": "zh", "jp": "ja"}
"""Country codes that are no language codes, and the language meant."""

WITHDRAWN = {"in": "id", "iw": "he", "ji": "yi", "jw": "jv", "mo": "ro"}
"""Codes that ISO 639-1 has withdrawn, and those that replace them."""

PARTS = {
    "Arab": {"Aran"},
    "Hans": {"Hani"},
    "Hant": {"Hani"},
    "Jpan": {"Hani", "Hira", "Hrkt", "Kana"},
    "Kore": {"Hang", "Hani"},
}
"""Scripts of ISO 15924 that are a part or a form of another, which they tell no language apart from."""

SCRIPTS = {
    "ADLAM": "Adlm", "ARABIC": "Arab", "ARMENIAN": "Armn", "BALINESE": "Bali", "BENGALI": "Beng", "BOPOMOFO": "Bopo",
    "CANADIAN": "Cans", "CHAKMA": "Cakm", "CHEROKEE": "Cher", "CJK": "Hani", "COPTIC": "Copt", "CYRILLIC": "Cyrl",
    "DEVANAGARI": "Deva", "ETHIOPIC": "Ethi", "GEORGIAN": "Geor", "GREEK": "Grek", "GUJARATI": "Gujr",
    "GURMUKHI": "Guru", "HANGUL": "Hang", "HEBREW": "Hebr", "HIRAGANA": "Jpan", "IDEOGRAPHIC": "Hani",
    "JAVANESE": "Java", "KANNADA": "Knda", "KATAKANA": "Jpan", "KHMER": "Khmr", "LAO": "Laoo", "LATIN": "Latn",
    "LEPCHA": "Lepc", "LIMBU": "Limb", "LISU": "Lisu", "MALAYALAM": "Mlym", "MEETEI": "Mtei", "MONGOLIAN": "Mong",
    "MYANMAR": "Mymr", "NKO": "Nkoo", "OL": "Olck", "ORIYA": "Orya", "OSAGE": "Osge", "SINHALA": "Sinh",
    "SUNDANESE": "Sund", "SYRIAC": "Syrc", "TAMIL": "Taml", "TELUGU": "Telu", "THAANA": "Thaa", "THAI": "Thai",
    "TIBETAN": "Tibt", "TIFINAGH": "Tfng", "VAI": "Vaii", "YI": "Yiii",
}  # fmt: skip
"""The first word of a letter's Unicode name, and the ISO 15924 code of the script that it means."""

KANA = 0.1
"""Kana for each Han character from which a text is Japanese: running text has more of them than Han (our choice)."""

_LOCAL_USE = re.compile(r"q[a-t][a-z]")  # reserved by ISO 639-2: assigned to no language


class Tag(NamedTuple):
    """A language as it is written inside."""

    tag: str  # the shortest BCP 47 tag
    notice: str | None  # a sentence where it was repaired or is doubtful


class _Parts(NamedTuple):
    """What a tag says, each in the case of BCP 47."""

    language: str
    script: str | None
    region: str | None
    dropped: tuple[str, ...]  # variants, extensions and private parts


def language_name(tag: str) -> str:
    """The English name of a language for people, with its script where the tag has one.

    The tag itself where it is assigned to nothing.
    """
    language, _, script = tag.partition("-")
    name = LANGUAGE_NAMES.get(language) or _library_name(language)
    if name is None:
        return tag
    return f"{name} ({_script_name(script)})" if script else name


def script_name(tag: str) -> str:
    """The English name of the script that a language is written in: its tag's, else the usual one of the language."""
    found = _script(tag)
    return _script_name(found) if found else "Unknown"


@functools.lru_cache(maxsize=4096)
def canonical(raw: str) -> Tag:
    """The shortest BCP 47 tag of a language as a file names it.

    The code is of ISO 639-1 where it has one, else of ISO 639-3; a code of a macrolanguage's foremost member counts as
    the macrolanguage's (CLDR: ``cmn`` is ``zh``). A region implies its script (``zh-TW`` is ``zh-Hant``) and is
    dropped; a script is kept where it is not the usual one of the language.

    Args:
        raw: a tag in any case, with ``-`` or ``_``, of ISO 639-1, 639-2 or 639-3, or a language's English name.

    Raises:
        InputError: it is not assigned to a language.
    """
    found = _tag_parts(raw) or _named_parts(raw)
    if found is None:
        raise InputError(
            f"language {raw!r}: expected an ISO 639 code such as ru, with a script where needed (zh-Hant), "
            "or an English name such as Russian"
        )
    language = _shortest(found.language)
    script, usual = found.script or _regional_script(language, found.region), _usual_script(language)
    if usual and script in {usual, *PARTS.get(usual, ())}:
        script = None
    tag = f"{language}-{script}" if script else language
    return Tag(tag, _notice(raw, found, tag))


def together(tags: Collection[str]) -> dict[str, str]:
    """How languages that are used side by side are written: with scripts where two scripts of one language meet.

    Args:
        tags: any that :func:`canonical` takes.

    Returns:
        For each of them its shortest tag, or that with its script (``zh-Hans`` beside ``zh-Hant``).

    Raises:
        InputError: one is not assigned to a language.
    """
    shortest = {tag: canonical(tag).tag for tag in tags}
    scripts: dict[str, set[str]] = defaultdict(set)
    for tag in shortest.values():
        scripts[tag.partition("-")[0]].add(_script(tag) or "")
    return {raw: _with_script(tag) if len(scripts[tag.partition("-")[0]]) > 1 else tag for raw, tag in shortest.items()}


def script_of(text: str) -> str | None:
    """The ISO 15924 code of the script that most letters of a text are in; None where no letter is of a known one.

    Han characters are ``Hani``, simplified or traditional; with kana among them they are ``Jpan``. Equal shares: the
    script that comes first.
    """
    counts = Counter(map(_letter_script, unicodedata.normalize("NFKC", text)))
    del counts[None]
    if counts["Jpan"] and counts["Jpan"] >= KANA * counts["Hani"]:
        counts["Jpan"] += counts.pop("Hani", 0)
    return max(counts, key=counts.__getitem__) if counts.total() else None


def suspicious(text: str, tag: str) -> str | None:
    """A sentence where a text is in a script that its language is not written in, else None.

    A single title may well be a name in another script: give a whole collection of texts, joined.

    Args:
        text: what is said to be in the language.
        tag: a tag as :func:`canonical` gives it; where it has a script, that one is expected.

    Returns:
        None also where the text has no letters, or nothing is known of the language's scripts.
    """
    found = script_of(text)
    expected = _written_scripts(tag)
    if found is None or not expected or found in expected.union(*(PARTS.get(script, ()) for script in expected)):
        return None
    names = sorted({_script_name(_counted(script)) for script in expected})
    return (
        f"the text is in {_script_name(found)} script, while {language_name(tag)} ({tag}) is usually written in "
        f"{' or '.join(names)} script"
    )


def _tag_parts(raw: str) -> _Parts | None:
    """A tag taken apart; None where it is none, or is assigned to nothing."""
    from langcodes import Language
    from langcodes.tag_parser import LanguageTagError

    text = raw.strip()
    try:
        found = Language.get(text, normalize=False)
        if found.language and "-" in found.language:  # a tag from before BCP 47, such as i-klingon
            found = Language.get(text)
    except LanguageTagError:
        return None
    language = (found.extlangs or [found.language or "und"])[0]
    known = _shortest(language)
    checked = Language.make(language=known, script=found.script, variants=found.variants)
    if not text or len(known) > 3 or _LOCAL_USE.fullmatch(known) or not checked.is_valid():
        return None
    dropped = (*(found.variants or ()), *(found.extensions or ()), *filter(None, [found.private]))
    return _Parts(language, found.script, found.territory, dropped)


def _named_parts(raw: str) -> _Parts | None:
    """The tag of an English name, taken apart; None where no language has the name.

    What is in brackets or behind a comma is put in front: Chinese (Simplified), Greek, Modern.
    """
    from language_data.names import get_trie_value, normalize_name

    names = _english_names()
    words = raw.replace("_", " ")
    for spelt in (words, re.sub(r"^(.+?)\s*[(,]\s*(.+?)\)?\s*$", r"\2 \1", words)):
        name = " ".join(normalize_name(spelt).split())
        if len(name) > 3 and name.isprintable() and name in names:  # what is shorter is meant as a code
            return _tag_parts(get_trie_value(names, name))
    return None


def _notice(raw: str, found: _Parts, tag: str) -> str | None:
    if found.language in COUNTRIES:
        return f"{raw} is a country's code, taken as {tag} ({language_name(tag)})"
    if found.language in WITHDRAWN:
        return f"{raw} is a withdrawn code, taken as {tag} ({language_name(tag)})"
    if found.language == "kr" and raw.strip().casefold().startswith("kr"):  # not by its name
        return f"{raw} is {language_name(tag)}; was Korean (ko) meant?"
    if found.dropped:
        return f"{raw} is taken as {tag} ({language_name(tag)}), without {'-'.join(found.dropped)}"
    return None


@functools.cache
def _english_names() -> Any:
    """English names of languages in the library's form, to tags: a ``marisa_trie.BytesTrie``."""
    from language_data.names import load_trie
    from language_data.util import data_filename

    return load_trie(str(data_filename("trie/en/name_to_language.marisa")))


def _shortest(code: str) -> str:
    """The code of two letters where the language has one, else its own; country codes and withdrawn ones repaired."""
    return COUNTRIES.get(code) or WITHDRAWN.get(code) or _shortest_codes().get(code, code)


@functools.cache
def _shortest_codes() -> dict[str, str]:
    """Codes of three letters that have one of two."""
    from langcodes import data_dicts

    members = {code: tag for code, tag in data_dicts.NORMALIZED_MACROLANGUAGES.items() if len(code) == 3}
    shortest = members | {code: tag for tag, code in data_dicts.LANGUAGE_ALPHA3_BIBLIOGRAPHIC.items()}
    for tag, code in data_dicts.LANGUAGE_ALPHA3.items():
        if tag != "fil":  # given the code of tl
            shortest[code] = WITHDRAWN.get(tag, tag)
    return {code: tag for code, tag in shortest.items() if len(tag) == 2}


def _usual_script(language: str) -> str | None:
    """The script that CLDR takes a language to be in; where it knows none, the only one of its macrolanguage."""
    from langcodes import data_dicts

    likely = _likely_script(language)
    if likely is None and language in data_dicts.MACROLANGUAGES:
        wider = _written_scripts(data_dicts.MACROLANGUAGES[language])
        return next(iter(wider)) if len(wider) == 1 else None
    return likely


def _regional_script(language: str, region: str | None) -> str | None:
    return _likely_script(f"{language}-{region}")


def _likely_script(tag: str) -> str | None:
    from langcodes import data_dicts

    if tag.startswith("und"):  # CLDR guesses the language too: English
        return None
    likely = data_dicts.LIKELY_SUBTAGS.get(tag)
    return likely.split("-")[1] if likely else None


def _script(tag: str) -> str | None:
    language, _, script = tag.partition("-")
    return script or _usual_script(language)


def _with_script(tag: str) -> str:
    language, script = tag.partition("-")[0], _script(tag)
    return f"{language}-{script}" if script else language


@functools.cache
def _written_scripts(tag: str) -> frozenset[str]:
    """The script of a tag, or all that people write its language in; empty where nothing is known."""
    from language_data.population_data import LANGUAGE_WRITING_POPULATION

    language, _, script = tag.partition("-")
    usual = _usual_script(language)
    if script or usual is None:
        return frozenset({script} - {""})
    counted = (name.split("-") for name in LANGUAGE_WRITING_POPULATION if name.startswith(f"{language}-"))
    return frozenset({usual, *(parts[1] for parts in counted if len(parts) == 2 and len(parts[1]) == 4)})


def _counted(script: str) -> str:
    """The code under which :func:`script_of` counts the letters of a script."""
    return {"Aran": "Arab", "Hans": "Hani", "Hant": "Hani", "Kore": "Hang"}.get(script, script)


@functools.lru_cache(maxsize=65_536)
def _letter_script(letter: str) -> str | None:
    if not letter.isalpha():
        return None
    return SCRIPTS.get(re.split("[ -]", unicodedata.name(letter, ""), maxsplit=1)[0])


@functools.cache
def _library_name(language: str) -> str | None:
    found = _tag_parts(language)
    if found is None or found.language != language or language in COUNTRIES:
        return None
    from langcodes import Language

    return str(Language.make(language=language).language_name())


def _script_name(script: str) -> str:
    from langcodes import Language

    return str(Language.make(script=script).script_name())
