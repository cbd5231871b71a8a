# SPDX-License-Identifier: Apache-2.0
"""The cells of a campaign, its planned runs: every point of its design, repeated."""

from __future__ import annotations

import hashlib
import random
import re
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from ccu.scenarios import radios
from ccu.scenarios.resolve import resolve_written
from ccu.spec.experiment import Experiment
from ccu.spec.places import Places, written_at
from ccu.spec.radio import RADIO, one_key_each
from ddu.campaign.definition import Campaign, Point
from ddu.console.problems import Problem, RefusedError, Where, refusal

# NAME_MAX of Linux is 255 bytes; the attempts have directories of their own inside.
_LONGEST_SLUG = 180


@dataclass(frozen=True, eq=False)
class Cell:
    """A planned run of a campaign: a point of the design and a repeat."""

    point: Point
    repeat: int
    seed: int
    of_point: Experiment
    """The experiment of its point; the cells of a point differ in the seed only."""
    places: Places
    """The place in the campaign's file that sets each key of its point."""
    file: str

    @property
    def experiment(self) -> Experiment:
        return self.of_point.model_copy(update={"seed": self.seed})

    def located(self) -> AbstractContextManager[None]:
        """Report refusals within at the places in the campaign's file."""
        return written_at(self.places, elsewhere=self.file)

    @property
    def slug(self) -> str:
        """Return the unique and stable name of the cell on disk."""
        return slug([*self.point, ("seed", str(self.seed))])

    @property
    def title(self) -> str:
        return " ".join(f"{factor}={label}" for factor, label in self.point) + (
            f" seed={self.seed}"
        )


def slug(parts: list[tuple[str, str]]) -> str:
    """Return `cc=cubic,prb=24` as a file name; characters that a name cannot hold become a hash."""
    text = ",".join(f"{name}={value}" for name, value in parts)
    safe = re.sub(r"[^A-Za-z0-9._+@=,-]", "_", text)
    if safe == text and len(safe) <= _LONGEST_SLUG:
        return safe
    return f"{safe[:_LONGEST_SLUG]}~{hashlib.sha256(text.encode()).hexdigest()[:10]}"


def cells(campaign: Campaign) -> list[Cell]:
    """Return every run in order of execution. Raises RefusedError for invalid experiments."""
    resolved, problems = [], list[Problem]()
    points = campaign.points
    if not points:
        raise refusal(f"campaign {campaign.name}: everything is excluded, nothing is left to run")
    for point in points:
        try:
            resolved.append((point, *_experiment(campaign, point)))
        except RefusedError as error:
            problems += error.problems
    if problems:
        raise RefusedError(dict.fromkeys(problems))
    order, file = [], campaign.where().file or campaign.name
    for repeat in range(campaign.repeats):
        block = list(resolved)
        if campaign.order == "random":
            random.Random(f"{campaign.order_seed}/{repeat}").shuffle(block)
        seed = campaign.first_seed + repeat
        order += [Cell(point, repeat, seed, each, places, file) for point, each, places in block]
    return order


def _experiment(campaign: Campaign, point: Point) -> tuple[Experiment, Places]:
    """Return the experiment of the point, and the place of each key."""
    written: dict[str, Any] = {}
    places: dict[str, Where] = {}
    sources: list[tuple[tuple[str, ...], dict[str, Any]]] = [(("base",), campaign.base)]
    sources += [(("factors", *one), campaign.factors[one[0]][one[1]]) for one in point]
    for path, content in sources:
        found_at = {key: campaign.where(*path, key) for key in content}
        if isinstance(inside := content.get(RADIO), dict):
            found_at |= {f"{RADIO}.{key}": campaign.where(*path, RADIO, str(key)) for key in inside}
        options, found_at = one_key_each(content, found_at, radios.read)
        for key, value in options.items():
            if key in ("cc", "flows"):  # Both keys define the flows.
                written.pop("cc", None)
                written.pop("flows", None)
            written[key] = _both(written.get(key), value) if key == "cc_params" else value
        places |= found_at
    if "seed" in written:
        rule = "repeats have seeds of their own"
        raise RefusedError(Problem(rule, "write first_seed", places["seed"]))
    return resolve_written(written, places, elsewhere=campaign.where().file), places


def _both(before: object, value: object) -> object:
    """Return the parameters of two factors together: one may choose a congestion control, the other
    switch its parts off."""
    if isinstance(before, dict) and isinstance(value, dict):
        return {**before, **value}
    return value
