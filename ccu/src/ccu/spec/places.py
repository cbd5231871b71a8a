# SPDX-License-Identifier: Apache-2.0
"""The places where values of an experiment were written: a flag, or file, line and key.

Who finds a problem with a value knows its key only, `Where(key="prb")`; who read the value knows
the place, and fills it in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ccu.spec.keys import flag_of, keys
from ddu.console.problems import Problem, RefusedError, Where

Places = Mapping[str, Where]
"""The place of each value by its key, and by the name of its field."""


@contextmanager
def written_at(places: Places, elsewhere: str | None = None) -> Iterator[None]:
    """Fill in `places` in the problems of refusals.

    `elsewhere`: the file of the values that have no place; None: they are named by their flag.
    """
    try:
        yield
    except RefusedError as error:
        raise RefusedError(placed(one, places, elsewhere) for one in error.problems) from None


def placed(problem: Problem, places: Places, elsewhere: str | None = None) -> Problem:
    """Return the problem at the place where its value was written, if its key is a value's."""
    parts = (problem.where.key or "").split(".")
    prefixes = [".".join(parts[:length]) for length in range(len(parts), 0, -1)]
    if problem.where.file is not None or not (parts[0] in keys() or set(prefixes) & set(places)):
        return problem
    key = next((prefix for prefix in prefixes if prefix in places), parts[0])
    elsewhere_or_flag = Where(elsewhere, key=key) if elsewhere else Where(key=flag_of(key))
    where = places.get(key, elsewhere_or_flag)
    inside = ".".join(parts[key.count(".") + 1 :])
    # The value was written as one word where it is called otherwise, as by a flag.
    as_it_is = where.key is not None and where.key.split(".")[-1] == key.split(".")[-1]
    return problem.at(Where(key=inside).inside(where) if inside and as_it_is else where)
