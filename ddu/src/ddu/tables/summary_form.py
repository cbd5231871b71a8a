# SPDX-License-Identifier: Apache-2.0
"""The form of summary.json, as far as its readers rely on it; docs/metrics.md says what it means.

Its digest shows that it is as somebody wrote it, not that it was `ddu analyze`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ddu.errors import malformed
from ddu.metrics.catalogue import summary_metric
from ddu.metrics.metric import SummaryMetric
from ddu.run.manifest import Direction, Verdict


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow", allow_inf_nan=False)

    @model_validator(mode="after")
    def _metrics(self) -> _Part:
        """Refuse a metric of another form; other keys are of a package, or for people."""
        for name, value in (self.model_extra or {}).items():
            metric = summary_metric(name)
            if metric is not None and not _is_of(metric, value):
                raise ValueError(f"{name} must be {_form_of(metric)} or null")
        return self


class _Flow(_Part):
    id: str
    cc: str
    direction: Direction


class _Change(BaseModel):
    t_s: float
    change: str


class _Summary(_Part):
    verdict: Verdict
    verdict_reasons: list[str]
    bin_ms: Annotated[float, Field(ge=1, le=60_000)]  # as `ddu analyze --bin` takes
    flows: Annotated[list[_Flow], Field(min_length=1)]
    changes: list[_Change] = []


def need_form(file: Path, content: dict[str, Any], fix: str) -> None:
    """Raise UnreadableInput that names the first wrong key of summary.json."""
    try:
        _Summary.model_validate(content)
    except ValidationError as error:
        raise malformed(file, error, fix) from None


def _is_of(metric: SummaryMetric, value: object) -> bool:
    if value is None:
        return True
    if not metric.parts:
        return _is_number(value) if metric.is_number else isinstance(value, str)
    return isinstance(value, dict) and all(
        part is None or _is_number(part) for part in value.values()
    )


def _form_of(metric: SummaryMetric) -> str:
    if metric.parts:
        return f"numbers named {' and '.join(metric.parts)}"
    return "a number" if metric.is_number else "a name"


def _is_number(value: object) -> bool:
    """Whether it is finite, and no larger than what float() takes."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300
