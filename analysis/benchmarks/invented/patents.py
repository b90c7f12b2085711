"""Invented patents in two layouts, with queries and a transcript of models that wrote others, and planted traps."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from analysis.benchmarks.document_queries import EXISTING, GENERAL, MISSING, MODES, TECHNICAL, Planned, Wanted, plan
from analysis.benchmarks.invented.concepts import Concepts
from analysis.benchmarks.invented.words import EVERY, Places, Speech, joined
from analysis.benchmarks.parallel_documents import INVENTED_OFFICE
from analysis.benchmarks.query_calls import CANDIDATE, VERIFIER, Call, line
from analysis.benchmarks.query_prompts import CANDIDATES, CRITERIA, Wish, candidate, shown_in, verifier

TAGS = {"CHI": "zh", "ENG": "en", "FRE": "fr", "GER": "de", "JPN": "ja", "RUS": "ru", "SPA": "es"}
SPEECHES: Mapping[str, Speech] = {TAGS[speech.lat]: speech for speech in EVERY if speech.lat in TAGS}
GOOGLE, EPO = "google-patents", "epo"
SPOKEN = {GOOGLE: ("en", "de", "es", "fr", "ja", "ru", "zh"), EPO: ("en", "de", "fr")}
FIRST = {GOOGLE: 1_000_000, EPO: 5_000_000}
"""The first publication number of each table."""

BLOCK = 2000
WORDS, CHARACTERS = 60, 130  # of an abstract, in languages with spaces and without
OTHER_LETTERS = "ЩЁЖ"  # in languages of Latin letters or Han
PART = 10  # words that are drawn together
SHORT = 30  # words of an abstract that is too short
SAMPLE = 2  # of each language, mode and strategy, in the transcript
MODEL, JUDGE = "invented-writer", "invented-verifier"
CHEMICAL, OTHER = "C07D 401/12; A61K 31/00", "G06F 17/30"

PERIOD = 20
TRAPS = {
    3: "abstract too short",
    5: "one language",
    7: "publication repeated",
    9: "second version",
    11: "no claim",
    13: "other class",
    15: "wrong language tag",
    17: "unknown language",
    19: "no publication number",
}
"""Which publication has which trap, by its number."""


@dataclass(frozen=True)
class Row:
    """A language version as it is written."""

    number: str
    language: str
    title: str
    abstract: str
    claims: tuple[str, ...]
    classes: str


@dataclass
class _Table:
    planted: Counter[str] = field(default_factory=Counter)
    kept: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))  # publication -> evidence


class Texts:
    """What the patents of some numbers say, in any language, whether or not they are written in it."""

    def __init__(self, of: Concepts, task: str, numbers: Sequence[int], language: str) -> None:
        self._first = FIRST[task]
        speech, chosen = SPEECHES[language], np.array(numbers, dtype=np.int64)
        self._space, self._places = speech.space, {number: place for place, number in enumerate(numbers)}
        self._names = of.term(speech, chosen).to_pylist()
        self._classes = speech.class_of(chosen).to_pylist()
        self._words, self._others = (_long(speech, chosen, of.seed + shelf) for shelf in (0, 1000))

    def title(self, number: int) -> str:
        """Its name and its formula."""
        return f"{self._names[self._places[number]]} {formula(self._first + number)}"

    def abstract(self, number: int, *, other: bool = False, words: int | None = None) -> str:
        """What it is about; ``other`` says it otherwise."""
        place = self._places[number]
        text = (self._others if other else self._words)[place]
        text = self._space.join(text.split(self._space)[:words]) if words and self._space else text
        return f"{self._names[place]} {formula(self._first + number)} {text} {self._classes[place]}."

    def claims(self, number: int) -> tuple[str, ...]:
        """Two of them."""
        text = f"{self.title(number)} {self._classes[self._places[number]]}."
        return tuple(f"{n}. {text}" for n in (1, 2))

    def query(self, number: int, mode: str, variant: int) -> str:
        """One that asks for it: technical by name and formula, general by words of its abstract."""
        place = self._places[number]
        words = self._words[place].split(self._space) if self._space else list(self._words[place])
        some = self._space.join(words[variant * 6 : variant * 6 + (6 if self._space else 12)])
        return f"{some} {self._names[place]} {formula(self._first + number)}" if mode == TECHNICAL else some


def _long(speech: Speech, chosen: Places, seed: int) -> list[str]:
    """Fillers enough for an abstract, of which every part differs from number to number."""
    n = (WORDS if speech.space else CHARACTERS) // PART
    parts = [speech.sentence(chosen * (31 + 2 * part) + 7 * part + seed, PART) for part in range(n)]
    found: list[str] = joined(*parts, between=speech.space).to_pylist()
    return found


def formula(number: int) -> str:
    """A formula, the same in every language."""
    return f"C{number % 97}H{number}X"


def written_in(task: str, number: int) -> tuple[str, ...]:
    """The languages of a publication: all where it has a trap, else some are missing."""
    spoken = SPOKEN[task]
    if TRAPS.get(number % PERIOD) == "one language":
        return spoken[:1]
    if number % PERIOD in TRAPS:
        return spoken
    return tuple(tag for place, tag in enumerate(spoken) if not place or (place + number // 2) % 3)


def write(folder: Path, of: Concepts, *, queries: int) -> dict[str, object]:
    """Write both tables, their queries, and a transcript; what was planted in them.

    Args:
        folder: where.
        of: how many publications each table has, and which.
        queries: of each language, in the tables of queries.
    """
    planted: dict[str, object] = {}
    homes: dict[str, dict[str, dict[str, str]]] = {}
    for task, write_rows in ((GOOGLE, _write_google), (EPO, _write_epo)):
        table = _Table()
        write_rows(folder, _publications(of, task, table))
        found = table.planted
        homes[task] = {key: versions for key, versions in table.kept.items() if len(versions) > 1}
        found["publications kept"] = len(homes[task])
        found["kept"] = sum(map(len, homes[task].values()))
        planted[task] = dict(sorted(found.items()))
        planted[f"{task} queries"] = _write_queries(folder / f"{task}-queries.csv", of, task, homes[task], n=queries)
    planted["transcript"] = _write_transcript(folder / "transcript.jsonl", of, homes)
    return planted


def key(task: str, number: int) -> str:
    """A publication number as publications are compared by it."""
    return f"{INVENTED_OFFICE}{FIRST[task] + number}"


def _publications(of: Concepts, task: str, table: _Table) -> Iterator[list[Row]]:
    """The rows of each publication, and what is planted in them."""
    for start in range(0, of.n, BLOCK):
        numbers = list(range(start, min(of.n, start + BLOCK)))
        texts = {tag: Texts(of, task, numbers, tag) for tag in SPOKEN[task]}
        for number in numbers:
            yield _rows(task, number, texts, table)


def _rows(task: str, number: int, texts: Mapping[str, Texts], table: _Table) -> list[Row]:
    trap = TRAPS.get(number % PERIOD, "")
    name = f"{INVENTED_OFFICE}-{FIRST[task] + number}-A1"
    rows = {}
    for tag in written_in(task, number):
        said = texts[tag]
        classes = OTHER if trap == "other class" else CHEMICAL
        claims = () if trap == "no claim" and tag == "en" else said.claims(number)
        rows[tag] = Row(name, tag, said.title(number), said.abstract(number), claims, classes)
    kept = {} if trap == "other class" else {tag: f"{row.title}\n{row.abstract}" for tag, row in rows.items()}
    more = _more(trap, rows["en"], texts["en"].abstract(number, other=True))
    other = SPOKEN[task][-1]
    if trap == "abstract too short":
        rows["en"] = replace(rows["en"], abstract=texts["en"].abstract(number, words=SHORT))
        del kept["en"]
    elif trap == "wrong language tag":
        rows[other] = replace(rows[other], abstract=" ".join([OTHER_LETTERS] * WORDS))
        del kept[other]
    found = [*rows.values(), *more]
    table.planted["rows"] += len(found)
    if trap:
        table.planted[trap] += len(rows) if trap == "other class" else 1
    if kept:
        table.kept[key(task, number)] = kept
    return found


def _more(trap: str, english: Row, otherwise: str) -> list[Row]:
    """What stands in the table besides the versions of a publication."""
    if trap == "publication repeated":
        return [replace(english, number=f"{english.number[:-2]}B1")]
    if trap == "second version":
        return [replace(english, number=f"{english.number[:-2]}B1", abstract=otherwise)]
    if trap == "unknown language":
        return [replace(english, language="xx")]
    return [replace(english, number="")] if trap == "no publication number" else []


def _write_google(folder: Path, publications: Iterator[list[Row]]) -> None:
    """Lines of JSON as Google's public tables have them: one a publication, its texts in lists."""
    with (folder / "google.jsonl").open("w", encoding="utf-8") as handle:
        for rows in publications:
            for number in dict.fromkeys(row.number for row in rows):
                some = [row for row in rows if row.number == number]
                handle.write(json.dumps(_google(number, some), ensure_ascii=False) + "\n")


def _google(number: str, rows: Sequence[Row]) -> dict[str, Any]:
    def texts(parts: Mapping[str, str]) -> list[dict[str, Any]]:
        return [{"text": text, "language": tag, "truncated": False} for tag, text in parts.items() if text]

    codes = [{"code": code.replace(" ", ""), "inventive": True, "first": False} for code in rows[0].classes.split("; ")]
    return {
        "publication_number": number,
        "country_code": INVENTED_OFFICE,
        "kind_code": number[-2:],
        "title_localized": texts({row.language: row.title for row in rows}),
        "abstract_localized": texts({row.language: row.abstract for row in rows}),
        "claims_localized": texts({row.language: " ".join(row.claims) for row in rows}),
        "ipc": codes,
        "cpc": codes[:1],
    }


def _write_epo(folder: Path, publications: Iterator[list[Row]]) -> None:
    """A CSV with a row for each language, the number without its office."""
    with (folder / "epo.csv").open("w", encoding="utf-8", newline="") as handle:
        names = ("publn_auth", "publn_nr", "publn_kind", "language", "title", "abstract", "first_claim", "ipc")
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(names)
        for row in (row for rows in publications for row in rows):
            _, number, kind = row.number.split("-") if row.number else ("", "", "")
            texts = (row.language, row.title, row.abstract, *row.claims[:1], *[""] * (not row.claims))
            writer.writerow((INVENTED_OFFICE, number, kind, *texts, row.classes))


def _write_queries(
    path: Path, of: Concepts, task: str, homes: Mapping[str, Mapping[str, str]], *, n: int
) -> dict[str, int]:
    """A table of queries: of some the publication is not kept, some say the other strategy, one is repeated."""
    planted: Counter[str] = Counter()
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(("query_id", "query", "query_language", "mode", "strategy", "publication_number"))
        for place, tag in enumerate(SPOKEN[task]):
            numbers = [(number * 3 + place) % of.n for number in range(n)]
            texts = Texts(of, task, list(dict.fromkeys(numbers)), tag)
            again: tuple[str, ...] = ()
            for at, number in enumerate(numbers):
                mode = MODES[at // 2 % 2]
                strategy = EXISTING if tag in homes.get(key(task, number), ()) else MISSING
                reason = "asked" if key(task, number) in homes else "publication not kept"
                if at % 10 == 9 and reason == "asked":
                    strategy, reason = (MISSING if strategy == EXISTING else EXISTING), "other strategy"
                planted[reason] += 1
                name = "semantic" if mode == GENERAL else mode
                start = (f"{FIRST[task] + number}_{tag}_{at}", texts.query(number, mode, at % 3), tag, name)
                row = (*start, strategy.replace("-", "_"), key(task, number))
                writer.writerow(row)
                again = row if reason == "asked" and not again else again
            planted["repeated"] += bool(again)
            writer.writerows([(f"{again[0]}_again", *again[1:])] if again else [])
    return dict(sorted(planted.items()))


def _write_transcript(
    path: Path, of: Concepts, homes: Mapping[str, Mapping[str, Mapping[str, str]]]
) -> dict[str, object]:
    """What an invented model wrote and an invented verifier gave it, for ``SAMPLE`` queries of each kind."""
    planted: Counter[str] = Counter()
    tokens_in = tokens_out = 0
    with path.open("w", encoding="utf-8") as handle:
        for task, versions in homes.items():
            languages = {name: frozenset(found) for name, found in versions.items()}
            plans = plan(task, languages, Wanted(most=SAMPLE))
            for place, planned in enumerate(plans):
                for call, answer in _answers(of, planned, versions[planned.key], place, planted):
                    n_in, n_out = len("".join(call.prompt)) // 4, len(answer) // 4
                    handle.write(json.dumps(line(call, answer, n_in, n_out), ensure_ascii=False) + "\n")
                    planted["calls"] += 1
                    tokens_in, tokens_out = tokens_in + n_in, tokens_out + n_out
    return {**dict(sorted(planted.items())), "tokens in": tokens_in, "tokens out": tokens_out}


def _answers(
    of: Concepts, planned: Planned, versions: Mapping[str, str], place: int, planted: Counter[str]
) -> Iterator[tuple[Call, str]]:
    """The calls of one query with their answers; each eighth meets a trap."""
    number = int(planned.key.removeprefix(INVENTED_OFFICE)) - FIRST[planned.task]
    shown = shown_in(planned.language, versions)
    wish = Wish(versions[shown], shown, planned.language, planned.mode)
    texts = Texts(of, planned.task, [number], planned.language)
    trap = {1: "asked again", 3: "candidate unreadable", 5: "none passed", 7: "nothing readable"}.get(place % 8, "")
    planted[trap or "without a trap"] += 1
    name = f"{planned.key} {planned.language} {planned.mode}"
    for n in range(1, CANDIDATES + 1):
        prompt, text = candidate(wish, n), texts.query(number, planned.mode, n - 1)
        plain = json.dumps({"query": text}, ensure_ascii=False)
        broken = trap == "nothing readable" or (trap == "candidate unreadable" and n == best(place))
        if broken or (trap == "asked again" and n == 1):
            yield Call(CANDIDATE, MODEL, name, prompt), f"Sure: {text}"
            yield Call(CANDIDATE, MODEL, name, prompt, 2), f"Here it is: {text}" if broken else plain
            if broken:
                continue
        else:
            yield Call(CANDIDATE, MODEL, name, prompt), plain
        given = dict.fromkeys(CRITERIA, 5 if n == best(place) else 4)
        if trap == "none passed":
            given["fidelity"] = 2
        judged = verifier(wish, text)
        if trap == "asked again" and n == 2:
            yield Call(VERIFIER, JUDGE, name, judged), json.dumps({**given, "total": 20})
            yield Call(VERIFIER, JUDGE, name, judged, 2), json.dumps(given)
        else:
            yield Call(VERIFIER, JUDGE, name, judged), json.dumps(given)


def best(place: int) -> int:
    """Which candidate the verifier likes best, by the place of its query in the plan."""
    return place % CANDIDATES + 1
