"""Tables of a dataset by configuration and split, as hubs name them, and the subsets that they make.

A configuration is ``corpus``, ``queries`` or ``qrels`` (also ``default``), alone for all subsets or with the name of
one before or behind it: ``en-queries``, ``queries-en``; judgements may have the name of the subset alone. One
configuration may hold all three as splits. ``instruction`` gives queries instructions; ``top_ranked`` (what a
re-ranker is given) is no judgement and is not read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from analysis.errors import InputError
from analysis.imports.parts import Options
from analysis.imports.subsets import Subset

Splits = Mapping[str, tuple[Path, ...]]
"""Files of each split of one configuration; a split without a name is the only one."""

KINDS = {
    "corpus": "corpus",
    "queries": "queries",
    "query": "queries",
    "qrels": "qrels",
    "instruction": "instruction",
    "top_ranked": "top_ranked",
}
"""What configurations are called, and what they hold."""
DEFAULT = "default"
"""The configuration of judgements where none is called qrels, and the subset without a name beside others."""
SHARD = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<n>\d{5})(?P<rest>-[0-9a-f]+)?(?P<ending>\..+)?")


def subsets(root: Path, configs: Mapping[str, Splits], *, options: Options) -> list[Subset]:
    """The subsets that a dataset holds, or the one that is asked for.

    Args:
        root: the folder, for messages.
        configs: files by configuration and split.
        options: which split and subset; judgements are left out where others make them.

    Raises:
        InputError: a part is missing, has no such split or lacks a shard, or there is no such subset.
    """
    tables = _tables(configs)
    names = sorted({name for kind, name in tables if kind == "queries"})
    if not names:
        raise InputError(f"{root}: configurations {', '.join(configs) or '(none)'}, expected one called queries")
    shown = [name or DEFAULT for name in names]
    if options.subset is not None and options.subset not in shown:
        raise InputError(f"--subset {options.subset!r}: {root} has {', '.join(shown)}")
    chosen = [name for name in names if options.subset in (None, name or DEFAULT)]

    def files(kind: str, name: str, *, needed: bool) -> tuple[Path, ...]:
        key = next((key for key in ((kind, name), (kind, "")) if key in tables), None)
        if key is not None:
            return _files(root, "-".join(filter(None, (key[1], kind))), tables[key], options.split)
        if needed:
            expected = f"{name}-{kind} or {kind}" if name else kind
            raise InputError(f"{root}: configurations {', '.join(configs)}, expected one called {expected}")
        return ()

    return [
        Subset(
            name=name or (DEFAULT if len(names) > 1 else ""),
            documents=files("corpus", name, needed=True),
            queries=files("queries", name, needed=True),
            judgements=() if options.relevant_by else files("qrels", name, needed=True),
            instructions=files("instruction", name, needed=False),
        )
        for name in chosen
    ]


def _tables(configs: Mapping[str, Splits]) -> dict[tuple[str, str], Splits]:
    """Splits by what they hold and for which subset."""
    found: dict[tuple[str, str], Splits] = {}
    for config, splits in configs.items():
        inside = {KINDS[split]: files for split, files in splits.items() if split in KINDS and split != config}
        if "corpus" in inside and "queries" in inside:
            found |= {(kind, ""): {"": files} for kind, files in inside.items()}
            continue
        if config == DEFAULT:
            found.setdefault(("qrels", ""), splits)
        for word, kind in KINDS.items():
            if config == word:
                found[kind, ""] = splits
            elif config.endswith(f"-{word}"):
                found[kind, config.removesuffix(f"-{word}")] = splits
            elif config.startswith(f"{word}-"):
                found[kind, config.removeprefix(f"{word}-")] = splits
    for kind, name in list(found):
        if kind == "queries" and name in configs:
            found.setdefault(("qrels", name), configs[name])
    return found


def _files(root: Path, config: str, splits: Splits, split: str) -> tuple[Path, ...]:
    """The files of a split; where there is one split only, its files whatever its name."""
    name = split if split in splits or len(splits) != 1 else next(iter(splits))
    if name not in splits:
        shown = ", ".join(splits) or "(none)"
        raise InputError(f"{root}: {config} has the splits {shown}, expected {split} (--split chooses)")
    found = splits[name]
    if not found:
        raise InputError(f"{root}: no file of {config}, split {name}; expected those that its README names")
    check_shards(found)
    return found


def check_shards(files: Sequence[Path]) -> None:
    """Every part of a table that was written in numbered parts is there.

    Raises:
        InputError: one is missing.
    """
    numbers: dict[tuple[Path, str, int], set[int]] = {}
    for path in files:
        match = SHARD.fullmatch(path.name)
        if match:
            numbers.setdefault((path.parent, match["stem"], int(match["n"])), set()).add(int(match["number"]))
    for (folder, stem, n), found in numbers.items():
        missing = sorted(set(range(n)) - found)
        if missing:
            raise InputError(f"{folder}: found {len(found)} of {n} parts of {stem}, expected part {missing[0]:05} too")
