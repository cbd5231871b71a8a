# SPDX-License-Identifier: Apache-2.0
"""A campaign with a phone: block by block, each at a place that its owner names while walking.

A block is a repeat: every point of the design once, shuffled, so that all see the same place. What
fails in it is tried again there, before the walk goes on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ccu.campaigns import runner
from ccu.campaigns.cells import Cell
from ccu.campaigns.engines import Listener
from ccu.campaigns.engines.local import Local
from ccu.campaigns.runner import Work
from ccu.spec.errors import Refused
from ccu.spec.experiment import PHONE, Experiment


@dataclass(frozen=True)
class Spot:
    """Where a block is."""

    place: str
    note: str = ""

    def of(self, experiment: Experiment) -> Experiment:
        """The experiment, at this spot."""
        assert experiment.phone is not None
        here = {"place": self.place, "note": self.note}
        return experiment.model_copy(update={"phone": experiment.phone.model_copy(update=here)})


Ask = Callable[[int, int, Spot | None], Spot]
"""The spot of block n (from 1) of how many; the one before, if there was one."""


def is_field(work: Work) -> bool:
    """Whether the campaign is one of a phone's. Raises Refused if only a part of it is."""
    testbeds = {experiment.testbed for experiment in work.of_points}
    if PHONE in testbeds and len(testbeds) > 1:
        raise Refused(f"testbed: a walk with a phone has one testbed, not {sorted(testbeds)}")
    return PHONE in testbeds


def ask_at_terminal(block: int, blocks: int, before: Spot | None) -> Spot:
    """Raises Refused where nobody can be asked."""
    if not sys.stdin.isatty():
        raise Refused("--place: nobody is here to be asked; say where you are: --place NAME")
    usual = f" (Enter: {before.place})" if before else ""
    place = ""
    while not place:
        place = input(f"block {block} of {blocks}: where are you{usual}? ").strip()
        place = place or (before.place if before else "")
    return Spot(place, input("a note (Enter: none): ").strip())


def carry_out(
    work: Work, engine: Local, listener: Listener, ask: Ask, only: Spot | None = None
) -> None:
    """The blocks that have something to do; with `only`, the next one, there."""
    repeats = sorted({cell.repeat for cell in work.cells})
    spot = only
    for repeat in _unfinished(work):
        spot = only or ask(repeats.index(repeat) + 1, len(repeats), spot)
        listener.note(f"block {repeats.index(repeat) + 1} of {len(repeats)}: {spot.place}")
        engine.prepared = _at(spot)
        work.only_repeat = repeat
        try:
            runner.carry_out(work, engine, listener)
        finally:
            work.only_repeat = None
        if only:
            return


def _unfinished(work: Work) -> Iterator[int]:
    tried: set[int] = set()
    while (
        cell := next((one for one in work.to_do() if one.repeat not in tried), None)
    ) is not None:
        tried.add(cell.repeat)
        yield cell.repeat


def _at(spot: Spot) -> Callable[[Cell], Experiment]:
    return lambda cell: spot.of(cell.experiment)


def most_bytes(work: Work) -> int:
    """What the runs to do may carry over the operator's network, tries again not counted."""
    phones = [cell.of_point.phone for cell in work.to_do()]
    return sum(phone.max_bytes for phone in phones if phone is not None)
