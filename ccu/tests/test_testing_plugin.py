# SPDX-License-Identifier: Apache-2.0
"""The marker `over_5g` of the pytest plugin; tests/virtual/test_ci_example.py runs its fixture."""

from __future__ import annotations

from pathlib import Path

import pytest

from ccu.scenarios.resolve import resolve_arguments
from ccu.testing import plugin, session
from ddu.console.problems import RefusedError

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


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"testbed": "emulated"}, "testbed: not a key of a link. Leave it out"),
        ({"cc_params": {"dtt": "60ms"}}, "cc_params: not a key of a link"),
        ({"traffic": "udp:10M"}, "traffic: not a key of a link"),
    ],
)
def test_a_key_without_meaning_is_refused(
    tmp_path: Path, keys: dict[str, object], said: str
) -> None:
    with pytest.raises(RefusedError, match=said):
        session.run(tmp_path / "run", ["true"], None, "dl", tmp_path, keys)


def test_a_program_as_one_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="Write a list of words"):
        session.run(tmp_path / "run", "python3 client.py", None, "dl", tmp_path, {})


def test_the_plan_has_what_the_keys_ask_of_the_kernel(tmp_path: Path) -> None:
    experiment = resolve_arguments(
        {"testbed": "virtual", "cc": "cubic", "aqm": "codel", "ecn": True}
    )
    plan = session._plan(experiment, [Path("client")], None, tmp_path)
    assert plan["sysctls"]["net.ipv4.tcp_ecn"] == "1"
    assert plan["programs"][0]["command"][-1] == "client"
