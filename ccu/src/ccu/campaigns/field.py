# SPDX-License-Identifier: Apache-2.0
"""A campaign in the field: block by block, each at a place that the user names.

A block is a repeat: every point of the design once, shuffled, so that all runs share the place. A
failed run is tried again there, before the next block.
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
from ccu.spec.experiment import Experiment
from ccu.testbeds import driver_of
from ddu.console.problems import refusal


@dataclass(frozen=True)
class Spot:
    """The place of a block, with a remark."""

    place: str
    note: str = ""

    def apply(self, experiment: Experiment) -> Experiment:
        """Return the experiment, at this spot."""
        here = experiment.testbed.at_place(self.place, self.note)
        return experiment.model_copy(update={"testbed": here})


Ask = Callable[[int, int, Spot | None], Spot]
"""A function of the block's number (from 1), the number of blocks, and the previous spot."""


def is_field(work: Work) -> bool:
    """Return whether the campaign's testbed is mobile.

    Raises RefusedError if only a part of the campaign is.
    """
    testbeds = {experiment.testbed.name for experiment in work.of_points}
    carried = any(experiment.testbed.has_places for experiment in work.of_points)
    if carried and len(testbeds) > 1:
        rule = f"a campaign in the field has one testbed, not {sorted(testbeds)}"
        raise refusal(rule, key="testbed")
    return carried


def ask_at_terminal(block: int, blocks: int, before: Spot | None) -> Spot:
    """Ask at the terminal. Raises RefusedError if there is none."""
    if not sys.stdin.isatty():
        raise refusal("there is no terminal to ask at", "name the place: --place NAME", key="place")
    usual = f" (Enter: {before.place})" if before else ""
    place = ""
    while not place:
        place = input(f"block {block} of {blocks}: where are you{usual}? ").strip()
        place = place or (before.place if before else "")
    return Spot(place, input("note (Enter: none): ").strip())


def carry_out(
    work: Work, engine: Local, listener: Listener, ask: Ask, only: Spot | None = None
) -> None:
    """Run the unfinished blocks; with `only`, the next one, at that spot."""
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
    return lambda cell: spot.apply(cell.experiment)


def notice(work: Work) -> str:
    """Return what the user must know before the remaining runs, without further attempts."""
    experiments = [cell.of_point for cell in work.to_do()]
    return driver_of(experiments[0]).notice(experiments) if experiments else ""
