"""Any answer as what JSON knows."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def plain(value: object) -> Any:
    """Dataclasses and named tuples become objects, NaN null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: plain(item) for name, item in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(item) for item in (value.tolist() if isinstance(value, np.ndarray) else value)]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def as_json(value: object) -> str:
    """One JSON document, in the languages' own scripts."""
    return json.dumps(plain(value), ensure_ascii=False, indent=1, allow_nan=False)
