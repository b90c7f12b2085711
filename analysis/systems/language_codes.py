"""What translation models call languages, and how each is told which one to translate from and into."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from analysis.errors import InputError
from analysis.languages import canonical, language_name

NAMED = 12
"""Languages that a refusal names; of more it counts the rest."""

SOURCE_SET = (
    re.compile(r"(?P<code>[a-z]{3}_[A-Z][a-z]{3})"),  # NLLB
    re.compile(r"(?P<code>[a-z]{2}_[A-Z]{2})"),  # mBART
    re.compile(r"__(?P<code>[a-z]{2,3})__"),  # M2M-100
)
"""Tokens of languages where the tokeniser is told the source and the decoder begins with the target."""

TARGET_TAG = re.compile(r"<2(?P<code>[A-Za-z_]+)>")  # MADLAD
MARIAN_TAG = re.compile(r">>(?P<code>[A-Za-z_]+)<<")
TASK = re.compile(r"translation_(?P<source>\w+)_to_(?P<target>\w+)")  # T5
PAIR = re.compile(r"opus-mt(?:-tc-\w+)?-(?P<source>[A-Za-z_]+)-(?P<target>[A-Za-z_]+)$")


class Way(NamedTuple):
    """How one model is told to translate from one language into another."""

    prefix: str = ""  # before each text
    source_code: str | None = None  # what the tokeniser is told
    first_token: str | None = None  # that the translation begins with


class Languages(Protocol):
    """The languages of one model."""

    def way(self, source: str, target: str) -> Way | None:
        """How it translates; None where it does not."""
        ...

    def __str__(self) -> str:
        """What it translates, in words."""
        ...


class Every(NamedTuple):
    """A model that translates between all its languages."""

    ways: Mapping[str, tuple[str, str]]  # by tag: code of a source, token of a target

    def way(self, source: str, target: str) -> Way | None:
        """How it translates; None where it does not."""
        if source not in self.ways or target not in self.ways:
            return None
        return Way("", self.ways[source][0], self.ways[target][1])

    def __str__(self) -> str:
        return f"translates between {_listed(self.ways)}"


class Tagged(NamedTuple):
    """A model that is told the target before the text."""

    sources: Collection[str] | None  # None: it does not say
    prefixes: Mapping[str, str]  # by target

    def way(self, source: str, target: str) -> Way | None:
        """How it translates; None where it does not."""
        if target not in self.prefixes or (self.sources is not None and source not in self.sources):
            return None
        return Way(self.prefixes[target])

    def __str__(self) -> str:
        origin = f" from {_listed(self.sources)}" if self.sources else ""
        return f"translates{origin} into {_listed(self.prefixes)}"


class Pairs(NamedTuple):
    """A model of some pairs of languages."""

    prefixes: Mapping[tuple[str, str], str]

    def way(self, source: str, target: str) -> Way | None:
        """How it translates; None where it does not."""
        prefix = self.prefixes.get((source, target))
        return None if prefix is None else Way(prefix)

    def __str__(self) -> str:
        return "translates " + ", ".join(f"{source} into {target}" for source, target in sorted(self.prefixes))


def languages_of(name: str, tokenizer: Any, config: Mapping[str, Any]) -> Languages:
    """What a model translates, by its tokeniser, its configuration and its name.

    Raises:
        InputError: none of them says.
    """
    vocabulary = {*tokenizer.get_vocab(), *getattr(tokenizer, "lang_token_to_id", ())}  # M2M-100 keeps its tags apart
    if hasattr(tokenizer, "src_lang"):
        for pattern in SOURCE_SET:
            ways = {tag: (code, token) for tag, code, token in _coded(pattern, vocabulary)}
            if len(ways) > 1:
                return Every(ways)
    targets = {tag: f"{token} " for tag, _, token in _coded(TARGET_TAG, vocabulary)}
    if len(targets) > 1:
        return Tagged(None, targets)
    if tasks := _tasks(config):
        return Pairs(tasks)
    source, target = _pair(name, tokenizer)
    tagged = {tag: f"{token} " for tag, _, token in _coded(MARIAN_TAG, vocabulary)}
    if tagged:
        return Tagged({source} if source else None, tagged)
    if source and target:
        return Pairs({(source, target): ""})
    raise InputError(
        f"translator {name}: neither its vocabulary nor its configuration names languages; expected NLLB, M2M-100, "
        "mBART, MADLAD, T5 with its tasks, or Marian with source_lang and target_lang in tokenizer_config.json"
    )


def refused(name: str, known: Languages, *, source: str, target: str) -> InputError:
    """Why a model cannot do that."""
    wanted = f"{language_name(source)} ({source}) into {language_name(target)} ({target})"
    return InputError(f"translator {name}: does not translate {wanted}; it {known}")


def _coded(pattern: re.Pattern[str], vocabulary: Iterable[str]) -> Iterable[tuple[str, str, str]]:
    """Tag, code and token of each language that a vocabulary has tokens of; of several codes of one the first."""
    seen: set[str] = set()
    for token in sorted(vocabulary):
        found = pattern.fullmatch(token)
        tag = _tag(found["code"]) if found else None
        if found and tag and tag not in seen:
            seen.add(tag)
            yield tag, found["code"], token


def _tag(code: str) -> str | None:
    """The shortest tag of a code; None where it is none, such as that of a group of languages."""
    plain = code[:2] if re.fullmatch(r"[a-z]{2}_[A-Z]{2}", code) else code
    try:
        return canonical(plain).tag
    except InputError:
        return None


def _tasks(config: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """Pairs that a configuration has a prefix for."""
    found: dict[tuple[str, str], str] = {}
    for name, settings in (config.get("task_specific_params") or {}).items():
        task = TASK.fullmatch(name)
        source, target = (_tag(task[end]) for end in ("source", "target")) if task else (None, None)
        if source and target:
            found[source, target] = str(settings.get("prefix", ""))
    return found


def _pair(name: str, tokenizer: Any) -> tuple[str | None, str | None]:
    """The languages that a tokeniser of one pair names, or its model's name."""
    told = [tokenizer.init_kwargs.get(key) for key in ("source_lang", "target_lang")]
    if not all(told) and (found := PAIR.search(name)):
        told = [found["source"], found["target"]]
    source, target = (_tag(str(code)) if code else None for code in told)
    return source, target


def _listed(tags: Collection[str]) -> str:
    some = sorted(tags)
    more = f" and {len(some) - NAMED:,} more" if len(some) > NAMED else ""
    return ", ".join(some[:NAMED]) + more
