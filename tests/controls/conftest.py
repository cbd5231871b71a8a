# SPDX-License-Identifier: Apache-2.0
"""The record of which proofs of congestion controls have passed."""

from __future__ import annotations

import pytest

from ccu.congestion import proofs, references


class Proofs:
    """Records which proofs of congestion controls passed with all their parameters."""

    def __init__(self) -> None:
        self.outcomes: dict[str, list[bool]] = {}
        self.incomplete: set[str] = set()

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        self.incomplete |= {test_of(item.nodeid) for item in items}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped:
            self.incomplete.add(test_of(report.nodeid))
        elif report.when == "call" or report.failed:
            self.outcomes.setdefault(test_of(report.nodeid), []).append(report.passed)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        chosen = {test_of(argument) for argument in session.config.args if "[" in argument}
        stopped = session.shouldstop or session.shouldfail
        complete = references.declared_proofs() - self.incomplete - chosen
        found = {proof: all(self.outcomes[proof]) for proof in complete & self.outcomes.keys()}
        if found and not stopped:
            proofs.record(found)


def test_of(node: str) -> str:
    """The test of a node, without its parameters."""
    return node.partition("[")[0]


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Proofs())
