# SPDX-License-Identifier: Apache-2.0
"""The marker `over_5g` of the pytest plugin; tests/virtual/test_ci_example.py runs its fixture."""

from __future__ import annotations

import pytest

from ccu.testing import plugin

pytest_plugins = ["pytester"]
SUMMARY = {
    "rtt_ms": {"p50": 20.0, "p95": 61.2},
    "throughput_bps": 12e6,
    "retransmissions_count": None,
}


@pytest.mark.parametrize(
    ("name", "limit", "said"),
    [
        ("max_rtt_p95_ms", 60, "max_rtt_p95_ms=60: rtt_p95_ms is 61.2"),
        ("min_throughput_mbps", 13, "min_throughput_mbps=13: throughput_mbps is 12"),
        ("max_retransmissions_count", 5, "the run has no retransmissions_count"),
    ],
)
def test_a_budget_that_does_not_hold_fails_the_test(name: str, limit: float, said: str) -> None:
    with pytest.raises(pytest.fail.Exception, match=said):
        plugin._check(name, limit, SUMMARY)


@pytest.mark.parametrize(
    ("name", "limit"),
    [("max_rtt_p95_ms", 61.2), ("max_rtt_p50_ms", 60), ("min_throughput_mbps", 12)],
)
def test_a_budget_that_holds_does_not(name: str, limit: float) -> None:
    plugin._check(name, limit, SUMMARY)


@pytest.mark.parametrize(
    ("budget", "arguments", "said"),
    [
        ("max_rtt_p99_ms=60", "link", "over_5g has no budget max_rtt_p99_ms"),
        ("most_rtt_p95_ms=60", "link", "over_5g has no budget most_rtt_p95_ms"),
        ("max_rtt_p95_ms=60", "", "which this test does not use. Add the argument link"),
    ],
)
def test_a_budget_that_nothing_would_check_is_refused(
    pytester: pytest.Pytester, budget: str, arguments: str, said: str
) -> None:
    pytester.makepyfile(
        f"from ccu.testing import over_5g\n\n@over_5g({budget})\ndef test_it({arguments}): pass\n"
    )
    # By its module: whether it is installed as `over5g` is not what is tested here.
    ran = pytester.runpytest(
        "-p", "no:over5g", "-p", "ccu.testing.plugin", "-p", "no:cacheprovider"
    )
    assert ran.ret == pytest.ExitCode.USAGE_ERROR
    ran.stderr.fnmatch_lines([f"*{said}*"])
