# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin `over5g`: the fixture `link` and the marker `over_5g`.

Every pytest of an environment loads this file: what a test needs is imported when it asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import pytest

if TYPE_CHECKING:
    from ccu.testing.session import Session

BUDGETS: dict[str, Callable[[dict[str, Any]], float | None]] = {
    "rtt_p50_ms": lambda summary: summary["rtt_ms"]["p50"],
    "rtt_p95_ms": lambda summary: summary["rtt_ms"]["p95"],
    "throughput_mbps": lambda summary: _millions(summary["throughput_bps"]),
    "retransmissions_count": lambda summary: summary["retransmissions_count"],
}
"""The metrics of summary.json that a budget may limit, by max_NAME or min_NAME."""


class Link(Protocol):
    """The fixture: runs a client and a server over a link; may be called more than once."""

    def __call__(
        self,
        client: Sequence[str],
        server: Sequence[str] | None = None,
        direction: Literal["dl", "ul"] = "dl",
        **keys: Any,
    ) -> Session: ...


def pytest_configure(config: pytest.Config) -> None:
    names = ", ".join(f"max_{name}" for name in BUDGETS)
    line = f"over_5g(**budgets): limits of each run of the fixture link: {names}, or min_…"
    config.addinivalue_line("markers", line)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a budget that nothing would check."""
    for item in items:
        budgets = _budgets(item)
        for name in budgets:
            if name.partition("_")[2] not in BUDGETS or name[:4] not in ("max_", "min_"):
                known = ", ".join(BUDGETS)
                raise pytest.UsageError(
                    f"{item.nodeid}: over_5g has no budget {name}. Write max_ or min_ and one of: "
                    f"{known}"
                )
        if budgets and "link" not in getattr(item, "fixturenames", ()):
            raise pytest.UsageError(
                f"{item.nodeid}: over_5g limits runs of the fixture link, which this test does "
                "not use. Add the argument link"
            )


@pytest.fixture
def link(request: pytest.FixtureRequest, tmp_path: Path) -> Link:
    """Run a server and a client over 5G in virtual time: `link(client, server, prb=106, …)`."""
    count = 0

    def perform(
        client: Sequence[str],
        server: Sequence[str] | None = None,
        direction: Literal["dl", "ul"] = "dl",
        **keys: Any,
    ) -> Session:
        nonlocal count
        from ccu.testing import session
        from ddu.console.problems import RefusedError

        count += 1
        folder = tmp_path / f"over-5g-{count}"
        try:
            there = request.path.parent
            ran = session.run(folder, client, server, direction, there, keys)
            for name, limit in _budgets(request.node).items():
                _check(name, limit, ran.summary)
        except RefusedError as error:
            pytest.fail(str(error), pytrace=False)
        return ran

    return perform


def over_5g(**budgets: float) -> pytest.MarkDecorator:
    """Limit what each run of a test may need: `@over_5g(max_rtt_p95_ms=60)`."""
    return pytest.mark.over_5g(**budgets)


def _budgets(item: pytest.Item) -> dict[str, float]:
    """Return the limits of a test; those of its own marker before those of its class or module."""
    return {
        name: limit
        for marker in reversed(list(item.iter_markers("over_5g")))
        for name, limit in marker.kwargs.items()
    }


def _check(name: str, limit: float, summary: dict[str, Any]) -> None:
    kind, _, metric = name.partition("_")
    value = BUDGETS[metric](summary)
    if value is None:
        pytest.fail(f"{name}={limit:g}: the run has no {metric}", pytrace=False)
    if value > limit if kind == "max" else value < limit:
        pytest.fail(f"{name}={limit:g}: {metric} is {value:.4g}", pytrace=False)


def _millions(value: float | None) -> float | None:
    return None if value is None else value / 1e6
