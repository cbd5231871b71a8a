# SPDX-License-Identifier: Apache-2.0
"""`quic:SPEC`: what the words mean, and which are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from ccu.spec import traffic
from ccu.spec.experiment import Experiment
from ccu.testbeds import check_traffic, drivers
from ccu.traffic import driver_of
from ddu.console.problems import RefusedError


@pytest.mark.parametrize(
    ("written", "control", "name"),
    [
        ("quic", "cubic", "quic-cubic"),
        ("quic:bbr", "bbr", "quic-bbr"),
        ("quic:aioquic", "newreno", "aioquic-newreno"),
        ("quic:bbr+receiver=aioquic+streams=8+volume=10MB", "bbr", "quic-bbr"),
        ("quic:newreno+datagrams", "newreno", "quic-newreno"),
        ("quic:cubic+0rtt", "cubic", "quic-cubic"),
        ("quic:./mine.py+queue_ms=5+streams=2", "mine", "quic-mine"),
    ],
)
def test_words_are_read_and_written_again(written: str, control: str, name: str) -> None:
    read = traffic.validated(written)
    assert (read.congestion_control, read.own_ccs) == (control, (name,))  # type: ignore[attr-defined]
    assert traffic.validated(str(read)) == read


@pytest.mark.parametrize(
    ("written", "rule"),
    [
        ("quic:bbr9", "bbr9"),
        ("quic:aioquic+bbr", "aioquic has no congestion control bbr"),
        ("quic:cubic+bbr", "says twice what its control is"),
        ("quic:aioquic+0rtt", "0rtt is for quinn at both ends"),
        ("quic:bbr+queue_ms=5", "queue_ms=5 is a parameter, and there is no policy"),
        ("quic:bbr+./mine.py", "./mine.py decides in place of bbr"),
        ("quic:streams=0", "greater than or equal to 1"),
    ],
)
def test_mistakes_are_named(written: str, rule: str) -> None:
    with pytest.raises(ValueError, match=rule.replace("+", r"\+")):
        traffic.validated(written)


def test_policies_lie_in_the_folders_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "mine.py"
    own.touch()
    monkeypatch.setenv("CCU_CC_PATH", str(tmp_path))
    assert traffic.validated("quic:mine.py").located_policy() == own  # type: ignore[attr-defined]


def test_a_path_that_is_too_narrow_for_quic_is_refused() -> None:
    flows = ({"cc": "quic:cubic"},)
    narrow = Experiment(flows=flows, mss_bytes=1187)  # type: ignore[arg-type]
    kind = narrow.flows[0].traffic
    assert kind is not None
    with pytest.raises(RefusedError, match="MSS of 1188 bytes and more"):
        driver_of(kind).check(narrow, kind)
    wide = Experiment(flows=flows, mss_bytes=1188)  # type: ignore[arg-type]
    driver_of(kind).check(wide, kind)


def test_a_testbed_that_runs_no_programs_names_those_that_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(type(drivers()["emulated"]), "runs_programs", False)
    flows = ({"cc": "quic:cubic"},)
    experiment = Experiment(flows=flows, testbed={"name": "emulated"})  # type: ignore[arg-type]
    with pytest.raises(
        RefusedError, match="emulated does not carry the traffic quic:cubic"
    ) as refused:
        check_traffic(experiment)
    assert "virtual" in str(refused.value)
