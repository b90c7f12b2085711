"""Have models write queries for publications: three candidates each, judged by a verifier, the best one kept."""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from analysis.benchmarks import query_prompts
from analysis.benchmarks.document_queries import Asked, Planned
from analysis.benchmarks.parallel_documents import Corpus, Queries
from analysis.benchmarks.query_calls import CANDIDATE, VERIFIER, Call
from analysis.benchmarks.query_prompts import CANDIDATES, CRITERIA, PASSES, Prompt, Scores, Wish
from analysis.jobs.transcript import Transcript
from analysis.languages import language_name
from analysis.model import Progress, silent
from analysis.store.versions import Kept
from analysis.text import counted

UNREADABLE = "no candidate could be read"
NONE_PASSED = "no candidate passed the verifier"
TRIES = 2  # of one call: asked once again where the answer cannot be read
BYTES_A_TOKEN = 4  # for estimates only
QUERY_TOKENS, SCORE_TOKENS = 40, 40  # of an answer, for estimates only
A_QUERY = "…" * 40  # stands for a candidate in a prompt that is only shown

LOOK = 0.2  # seconds between two looks at a query that is on its way
GRACE = 10.0  # seconds that a build which is ended waits for answers that are on their way, to keep them

Read = TypeVar("Read")
_Calls = dict[str, tuple[int, int | None, int | None]]
"""By key: attempt, tokens in, tokens out."""
_Coming = Future[tuple[Asked | str, _Calls]]


@dataclass(frozen=True)
class Generation:
    """Who writes queries and who judges them."""

    model: str
    verifier: str
    url: str | None = None
    key_variable: str | None = None
    transcript: Path | None = None  # recorded: nobody is asked
    most_calls: int | None = None
    at_once: int = 1  # queries that are asked for at the same time
    price_in: float | None = None  # for a million tokens of prompts
    price_out: float | None = None  # for a million tokens of answers

    def cost(self, tokens_in: int, tokens_out: int) -> float | None:
        """What tokens cost; None where no price is told."""
        if self.price_in is None and self.price_out is None:
            return None
        return (tokens_in * (self.price_in or 0) + tokens_out * (self.price_out or 0)) / 1_000_000


@dataclass(frozen=True)
class _Candidate:
    text: str
    scores: Scores


class _Ledger:
    """Asks a transcript, and keeps what each call took."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self.calls: _Calls = {}

    def ask(self, call: Call) -> str:
        answer = self._transcript.ask(call)
        self.calls[call.key] = (call.attempt, answer.tokens_in, answer.tokens_out)
        return answer.text


class Writer:
    """Writes the queries of a plan.

    Args:
        generation: who writes and who judges.
        corpus: what is kept of the tables.
    """

    def __init__(self, generation: Generation, corpus: Corpus) -> None:
        self._generation = generation
        self._versions: dict[tuple[str, str], dict[str, Kept]] = defaultdict(dict)
        for task, kept in corpus.kept.items():
            for version in kept:
                self._versions[task, version.key][version.language] = version

    def wish(self, planned: Planned) -> Wish:
        """What is to be written, and by which version."""
        versions = self._versions[planned.task, planned.key]
        shown = query_prompts.shown_in(planned.language, versions)
        return Wish(versions[shown].text, shown, planned.language, planned.mode)

    def write(
        self, plans: Sequence[Planned], transcript: Transcript, *, progress: Progress = silent
    ) -> dict[str, Queries]:
        """The queries of each task, with what became of the others and what it took.

        Raises:
            InputError: a replayed transcript lacks an answer, or no more calls may be made.
            SystemLoadError: the endpoint cannot be reached, refuses, or answers something else.
            JobCancelledError: raised by progress; what was answered is kept.
        """
        asked: dict[str, list[Asked]] = defaultdict(list)
        left: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
        calls: dict[str, _Calls] = defaultdict(dict)
        for planned, (found, made) in zip(plans, self._each(plans, transcript, progress), strict=True):
            calls[planned.task].update(made)
            if isinstance(found, str):
                left[planned.task][planned.language, found] += 1
            else:
                asked[planned.task].append(found)
        return {
            task: Queries(
                tuple(asked[task]), dict(left[task]), {**self._facts, "planned": n, **self._spent(calls[task])}
            )
            for task, n in Counter(planned.task for planned in plans).items()
        }

    def _each(
        self, plans: Sequence[Planned], transcript: Transcript, progress: Progress
    ) -> Iterator[tuple[Asked | str, _Calls]]:
        """What becomes of each query of a plan, in its order; several are asked for at once."""
        step = "ask models for queries"
        coming: list[_Coming] = [Future() for _ in plans]
        waiting = iter(list(zip(plans, coming, strict=True)))
        work = partial(self._work, waiting, threading.Lock(), transcript)
        workers = [threading.Thread(target=work, daemon=True) for _ in range(self._generation.at_once)]
        for worker in workers:
            worker.start()
        try:
            for place, found in enumerate(coming):
                progress(step, place, len(plans))
                while not wait([found], LOOK).done:
                    progress(step, place, len(plans))
                yield found.result()
        finally:
            transcript.stop()
            end = time.monotonic() + GRACE
            for worker in workers:
                worker.join(max(0, end - time.monotonic()))
        progress(step, len(plans), len(plans))

    def _work(self, waiting: Iterator[tuple[Planned, _Coming]], lock: threading.Lock, transcript: Transcript) -> None:
        """Ask for one query after another until there is none left, or one failed."""
        while True:
            with lock:
                planned, coming = next(waiting, (None, None))
            if planned is None or coming is None:
                return
            try:
                coming.set_result(self._best(planned, transcript))
            except BaseException as error:  # noqa: BLE001 (whoever waits for the query meets it)
                coming.set_exception(error)

    @property
    def _facts(self) -> dict[str, Any]:
        return {
            "from": "generated",
            "model": self._generation.model,
            "verifier": self._generation.verifier,
            "candidates": CANDIDATES,
            "criteria": list(CRITERIA),
            "passes": PASSES,
        }

    def _best(self, planned: Planned, transcript: Transcript) -> tuple[Asked | str, _Calls]:
        """The best candidate, or why there is none, of equal ones the first; and the calls that it took."""
        ledger = _Ledger(transcript)
        wish, name = self.wish(planned), words(planned)
        ask = partial(self._read, ledger)
        read, found = 0, list[_Candidate]()
        for number in range(1, CANDIDATES + 1):
            prompt = query_prompts.candidate(wish, number)
            text = ask(CANDIDATE, f"{name}, candidate {number}", prompt, query_prompts.query_of)
            if text is None or not query_prompts.written_in(text, wish.language):
                continue
            read += 1
            prompt = query_prompts.verifier(wish, text)
            scores = ask(VERIFIER, f"{name}, candidate {number}", prompt, query_prompts.scores_of)
            if scores is not None and scores.passes:
                found.append(_Candidate(text, scores))
        if not found:
            return (NONE_PASSED if read else UNREADABLE), ledger.calls
        best = max(found, key=lambda one: one.scores.total)
        total = str(best.scores.total)
        query = Asked("", planned.key, planned.language, best.text, planned.mode, planned.strategy, name, total)
        return query, ledger.calls

    def _read(
        self, ledger: _Ledger, role: str, name: str, prompt: Prompt, read: Callable[[str], Read | None]
    ) -> Read | None:
        model = self._generation.model if role == CANDIDATE else self._generation.verifier
        for attempt in range(1, TRIES + 1):
            found = read(ledger.ask(Call(role, model, name, prompt, attempt)))
            if found is not None:
                return found
        return None

    def _spent(self, made: _Calls) -> dict[str, Any]:
        """What calls took, whenever they were made."""
        calls = list(made.values())
        tokens_in = sum(n or 0 for _, n, _ in calls)
        tokens_out = sum(n or 0 for *_, n in calls)
        return {
            "calls": len(calls),
            "asked_again": sum(attempt > 1 for attempt, *_ in calls),
            "calls_without_usage": sum(n is None for _, n, _ in calls),
            "tokens_in": tokens_in,
            "tokens_out": tokens_out,
            "cost": self._generation.cost(tokens_in, tokens_out),
        }

    def told(self, plans: Sequence[Planned], transcript: Transcript) -> dict[str, Any]:
        """What a build would ask: how many calls, about how many tokens, and the first prompts of each kind."""
        tokens_in = tokens_out = known = 0
        shown: dict[str, dict[str, str]] = {}
        for planned in plans:
            wish = self.wish(planned)
            judged = query_prompts.verifier(wish, A_QUERY)
            for number in range(1, CANDIDATES + 1):
                prompt = query_prompts.candidate(wish, number)
                known += transcript.knows(Call(CANDIDATE, self._generation.model, "", prompt))
                tokens_in += _tokens(prompt) + _tokens(judged)
                tokens_out += QUERY_TOKENS + SCORE_TOKENS
                shown.setdefault(f"candidate, {planned.mode}", prompt._asdict())
            shown.setdefault(f"verifier, {planned.mode}", judged._asdict())
        cells = Counter((plan.task, plan.language, plan.mode, plan.strategy) for plan in plans)
        return {
            "queries": len(plans),
            "calls": len(plans) * CANDIDATES * 2,
            "candidates_answered_before": known,
            "estimated_tokens_in": tokens_in,
            "estimated_tokens_out": tokens_out,
            "estimated_cost": self._generation.cost(tokens_in, tokens_out),
            "model": self._generation.model,
            "verifier": self._generation.verifier,
            "plan": [
                {"task": task, "language": tag, "mode": mode, "strategy": strategy, "queries": n}
                for (task, tag, mode, strategy), n in cells.items()
            ],
            "prompts": shown,
        }


def words(planned: Planned) -> str:
    """A query that is to be written, in words."""
    return f"{planned.key} in {language_name(planned.language)}, {planned.mode}"


def _tokens(prompt: Prompt) -> int:
    return sum(len(text.encode("utf-8", "replace")) for text in prompt) // BYTES_A_TOKEN


def in_words(generation: Generation, found: Mapping[str, Queries]) -> str:
    """What all queries took, whenever they were asked for."""
    facts = [queries.facts for queries in found.values()]
    calls, untold, tokens_in, tokens_out = (
        sum(row[name] for row in facts) for name in ("calls", "calls_without_usage", "tokens_in", "tokens_out")
    )
    told = f"these queries took {_took(generation, calls, tokens_in, tokens_out)}"
    return told + (f"; {untold:,} calls without a count of tokens" if untold else "")


def made_now(generation: Generation, transcript: Transcript) -> str:
    """What this build has asked for, whether or not it came to its end."""
    return f"made now: {_took(generation, transcript.n_asked, transcript.tokens_in, transcript.tokens_out)}"


def _took(generation: Generation, calls: int, tokens_in: int, tokens_out: int) -> str:
    cost = generation.cost(tokens_in, tokens_out)
    told = f"{counted(calls, 'call')}, {tokens_in:,} tokens in, {tokens_out:,} out"
    return told + ("" if cost is None else f", cost {cost:.4f}")
