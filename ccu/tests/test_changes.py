# SPDX-License-Identifier: Apache-2.0
"""Changes during a run: how they are written, and what is refused."""

from __future__ import annotations

import pytest

from ccu.congestion import catalogue
from ccu.scenarios.link_config import link_config
from ccu.scenarios.resolve import resolve_written
from ccu.spec.experiment import Experiment
from ccu.spec.keys import flag_of
from ddu.console.problems import RefusedError, Where


def resolved(**written: object) -> Experiment:
    values = {"cc": "cubic", "duration": "10s", **written}
    return resolve_written(values, {key: Where(key=flag_of(key)) for key in values})


def test_changes_are_written_in_three_ways_and_ordered_by_time() -> None:
    flags = ["5s:buffer=800pkt", "2s:cc=bbr"]
    mappings = [{"at": "2s", "cc": "bbr"}, {"at": "5s", "buffer": "800pkt"}]
    both = resolved(changes=flags), resolved(changes=mappings)
    assert [str(one) for one in both[0].changes] == ["2s:cc=bbr", "5s:buffer=800pkt"]
    assert both[0].changes == both[1].changes
    assert Experiment.from_record(both[0].record()) == both[0]
    assert "changes" not in resolved().record()


def test_stages_have_what_has_changed_until_then() -> None:
    experiment = resolved(changes=["2s:cc=bbr", "2s:loss=1%", "5s:rtt=40ms", "7s:cc_params.a=b"])
    begin, second, fifth, seventh = (one.experiment for one in experiment.stages)
    assert (begin.cc, second.cc, fifth.cc) == ("cubic", "bbr", "bbr")
    assert (begin.loss.dl, second.loss.dl) == (0, 0.01)
    assert (second.rtt_ms, fifth.rtt_ms) == (20, 40)
    assert seventh.cc_params == {"a": "b"}
    assert experiment.servers_ccs == ("cubic", "bbr")
    assert experiment.cc == "cubic"


def test_link_yaml_has_the_links_part_only() -> None:
    experiment = resolved(changes=["2s:cc=bbr", "3s:rtt=40ms", "5s:aqm=codel"])
    third, fifth = link_config(experiment, "a", "b")["changes"]
    assert third["at_s"] == 3
    assert third["path"]["dl"] == {"delay_ms": 20.0, "loss_ratio": 0.0}
    assert fifth["queue"]["dl"]["aqm"] == {"codel": {}}
    assert "changes" not in link_config(resolved(changes=["2s:cc=bbr"]), "a", "b")


def test_ecn_needs_a_queue_that_marks_at_some_time() -> None:
    with pytest.raises(RefusedError, match="a drop-tail queue marks nothing"):
        resolved(ecn=True, changes=["2s:loss=1%", "3s:aqm=droptail"])
    experiment = resolved(ecn=True, changes=["2s:loss=1%", "3s:aqm=codel", "5s:aqm=droptail"])
    assert [one.experiment.ecn for one in experiment.stages] == [True] * 4
    third, fifth = [one for one in link_config(experiment, "a", "b")["changes"] if "queue" in one]
    assert third["queue"]["dl"]["aqm"] == {"codel": {"ecn": True}}
    assert "aqm" not in fifth["queue"]["dl"]
    assert Experiment.from_record(experiment.record()) == experiment


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("cc=bbr", "'cc=bbr' is not a change. write TIME:KEY=VALUE"),
        ("20:cc=bbr", "'20' is not a time"),
        ("10s:cc=bbr", "the run is over after 10 s"),
        ("-1s:cc=bbr", "-1s is not after the start of the traffic"),
        ({"at": "0s", "prb": 51}, "0s is not after the start of the traffic"),
        ("5s:mss=500", "mss cannot change during a run. choose one of: cc, cc_params.NAME, prb"),
        ("5s:colour=red", "colour cannot change during a run"),
        ("5s:buffer=much", "5s:buffer=much: 'much' is not a quantity with a unit"),
        ("5s:loss=200%", "'200%' is not between 0 and 1"),
        ("5s:aqm=UPPER", "5s:aqm=UPPER: "),
        ("5s:cc=not one", "is not a valid name"),
        ("5s:cc=quic:cubic", "is not a congestion control of the hosts' kernels"),
        ({"cc": "bbr"}, "does not say when"),
    ],
)
def test_a_wrong_change_gets_one_sentence(change: object, said: str) -> None:
    with pytest.raises(RefusedError) as refused:
        resolved(changes=[change])
    (problem,) = refused.value.problems
    assert said in f"{problem.rule}. {problem.fix}"
    assert problem.where.key == "--change"


@pytest.mark.parametrize("keys", [("rtt", "dl_delay"), ("dl_delay", "rtt")])
def test_changes_at_one_instant_are_checked_together(keys: tuple[str, str]) -> None:
    values = {"rtt": "10ms", "dl_delay": "5ms"}
    changes = [{"at": "5s", **{key: values[key] for key in keys}}]
    experiment = resolved(rtt="20ms", dl_delay="15ms", changes=changes)
    assert experiment.stages[1].experiment.rtt_ms == 10
    with pytest.raises(RefusedError, match="5s:rtt=10ms: dl_delay is 15 ms of 10 ms"):
        resolved(rtt="20ms", dl_delay="15ms", changes=["5s:rtt=10ms"])


def test_a_time_with_its_unit_beside_one_without_is_in_order() -> None:
    written = [{"at_s": "7s", "key": "cc", "value": "bbr"}, {"at": "5s", "prb": 24}]
    assert [one.at_s for one in resolved(changes=written).changes] == [5, 7]


def test_a_key_gets_one_value_at_an_instant() -> None:
    with pytest.raises(RefusedError, match="2s:prb=24 and 2s:prb=11: prb gets two values"):
        resolved(changes=["2s:prb=24", "2s:prb=11"])
    assert len(resolved(changes=["2s:prb=24", "3s:prb=11"]).changes) == 2


def test_a_parameter_that_a_change_sets_is_refused_as_one() -> None:
    cubic = catalogue.in_virtual_time(resolved(), {"cubic"})
    with pytest.raises(RefusedError, match="2s: cubic takes no parameters") as refused:
        catalogue.check_provided(resolved(changes=["2s:cc_params.dtt=1ms"]), cubic, virtual=True)
    assert refused.value.problems[0].where.key == "changes"


def test_a_testbed_that_changes_nothing_says_which_do() -> None:
    with pytest.raises(RefusedError, match="changes nothing during a run") as refused:
        resolved(testbed="rfsim", changes=["5s:cc=bbr"])
    assert "--testbed virtual or emulated" in str(refused.value)
