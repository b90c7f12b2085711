"""Topics in lines of JSON: one query a line, or a topic with its versions in several languages (HC4, patapsco)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.errors import InputError
from analysis.imports import markup_topics, records, tables
from analysis.imports.faults import Faults
from analysis.imports.records import Record, Records

NOT_KEPT = ("narratives", "report")
"""What a topic says at length beside its versions."""


@dataclass
class Versions:
    """What reading topics tells beside the queries.

    Attributes:
        of: topic -> the ids of its queries, where they differ from the topic's.
        notices: what is not kept, with the number of topics.
    """

    of: dict[str, tuple[str, ...]] = field(default_factory=dict)
    notices: Counter[str] = field(default_factory=Counter)


def read(path: Path, *, text_field: str, renamed: Mapping[str, str], faults: Faults, versions: Versions) -> Records:
    """Yield each query as a record.

    A line with ``topics`` holds versions: one query each, all of the family ``topic_id``, with ``source`` (who or what
    translated it) as an attribute. Its id is the topic's where there is one version, else ``topic:lang``, or
    ``topic:lang:source`` where a language has several.

    Args:
        path: plain or packed.
        text_field: one of ``markup_topics.FIELDS``.
        renamed: column -> field, as the user says.
        faults: takes lines that hold no topic.
        versions: filled as the file is read.
    """
    kind = "query dropped"
    words = tuple(dict.fromkeys(("text", *markup_topics.FIELDS[text_field])))
    columns = tables.queries(renamed, text=words)
    for where, record in records.read(path, faults=faults, kind=kind):
        if "topics" not in record:
            yield where, tables.named(record, columns.fields(list(record)))
            continue
        try:
            found = list(_versions(record, f"topic_{'title' if text_field == 'title' else 'description'}", versions))
        except InputError as error:
            faults.meet(where, str(error), kind=kind)
            continue
        for query in found:
            yield where, query


def _versions(record: Record, text: str, versions: Versions) -> Iterator[dict[str, Any]]:
    topic, found = records.text(record, "topic_id"), record["topics"]
    if not topic or not topic.strip():
        raise InputError(f"topic_id is {'missing' if topic is None else 'blank'}, expected an id")
    if not isinstance(found, list) or not found or not all(isinstance(version, dict) for version in found):
        raise InputError(f"topics of topic {topic!r}, expected a list of objects with lang, source and topic_title")
    names = [_name(topic, version, found) for version in found]
    lacking = next((name for name, version in zip(names, found, strict=True) if text not in version), None)
    if lacking is not None:
        raise InputError(f"{lacking!r} has no {text}, expected one (--topic-field)")
    if names != [topic]:
        versions.of[topic] = (*versions.of.get(topic, ()), *names)
    versions.notices[markup_topics.TEXT_IS.format(text)] += 1
    for name in NOT_KEPT:
        versions.notices[f"topics whose field {name!r} is not kept"] += bool(record.get(name))
    rest = {key: value for key, value in record.items() if key not in ("topic_id", "topics", *NOT_KEPT)}
    for name, version in zip(names, found, strict=True):
        own = {key: value for key, value in version.items() if key not in ("lang", text)}
        yield {**rest, **own, "_id": name, "language": version.get("lang"), "family": topic, "text": version[text]}


def _name(topic: str, version: Record, among: list[Record]) -> str:
    if len(among) == 1:
        return topic
    language = records.text(version, "lang") or records.UNDETERMINED
    several = sum(other.get("lang") == version.get("lang") for other in among) > 1
    return f"{topic}:{language}:{records.text(version, 'source') or ''}" if several else f"{topic}:{language}"
