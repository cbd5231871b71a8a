# SPDX-License-Identifier: Apache-2.0
"""The weights that Orca's authors published: read, folded, and used as their program does.

The numbers of these tests are random or chosen; TensorFlow is not needed.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ccplane import network
from ccplane.abi import REPORT, START, Report
from ccplane.cubic import Cubic
from ccplane.flow import Flow
from ccplane.learned import orca, orca_published
from ccplane.learned.interval import HISTORY
from ccplane.learned.orca_published import Agent, Interval, Monitor, state, window
from cctraining import published

WIDTH = 70
PUBLISHED = {orca_published.NAME: orca_published.SEEN}


def load(file: Path) -> network.Network:
    return network.load(file, orca.AGENT, orca.INPUTS, HISTORY, PUBLISHED)


def checkpoint(first: int = 24, second: int = 16, inputs: int = WIDTH) -> dict[str, Any]:
    """Random variables under the names of the authors' checkpoint."""
    random = np.random.default_rng(7)
    sizes = {"fc1": (inputs, first), "fc2": (first, second), "dense": (second, 1)}
    variables = {}
    for name, shape in sizes.items():
        variables[f"actor/{name}/kernel"] = random.normal(size=shape) / math.sqrt(shape[0])
        variables[f"actor/{name}/bias"] = random.normal(size=shape[1])
    for name, size in (("batch_normalization", first), ("batch_normalization_1", second)):
        variables[f"actor/{name}/beta"] = random.normal(size=size)
        variables[f"actor/{name}/moving_mean"] = random.normal(size=size)
        variables[f"actor/{name}/moving_variance"] = random.uniform(size=size)
        variables[f"actor/{name}/moving_variance"][:2] = 0, 1e-4  # Here the epsilon matters.
    variables["actor/dense/kernel"] /= 10  # Within the slope of tanh.
    return variables


def unfolded(v: dict[str, Any], values: Any) -> float:
    """The authors' network, layer by layer."""
    for dense, normal in (("fc1", "batch_normalization"), ("fc2", "batch_normalization_1")):
        values = values @ v[f"actor/{dense}/kernel"] + v[f"actor/{dense}/bias"]
        values = values - v[f"actor/{normal}/moving_mean"]
        values = values / np.sqrt(v[f"actor/{normal}/moving_variance"] + 0.001)
        values = values + v[f"actor/{normal}/beta"]
        values = np.where(values > 0, values, 0.2 * values)
    return math.tanh((values @ v["actor/dense/kernel"] + v["actor/dense/bias"])[0])


def write(folder: Path, variables: dict[str, Any], **changed: Any) -> Path:
    file = folder / "published.json"
    content = published.content(variables, {"command": "a test"}) | changed
    file.write_text(json.dumps(content))
    return file


def test_the_folded_network_answers_what_the_unfolded_one_does(tmp_path: Path) -> None:
    variables = checkpoint()
    network = load(write(tmp_path, variables))
    seen = np.random.default_rng(8).uniform(-1, 1, size=(50, WIDTH))
    wanted = [unfolded(variables, one) for one in seen]
    assert max(wanted) - min(wanted) > 0.2
    assert [network.answer(one.tolist()) for one in seen] == pytest.approx(wanted, abs=1e-5)


def test_numpy_answers_to_the_last_bit_what_python_alone_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path, checkpoint(first=150, second=40))
    with_numpy = load(file)
    monkeypatch.setitem(sys.modules, "numpy", None)
    without = load(file)
    assert type(with_numpy._layers[0]) is not type(without._layers[0])
    for seen in np.random.default_rng(9).uniform(size=(20, WIDTH)).tolist():
        assert with_numpy.answer(seen) == without.answer(seen)


def report(**values: float) -> Report:
    blank = Report._make((0,) * len(REPORT.unpack(bytes(REPORT.size))))
    usual = {"mss": 1300, "srtt_us": 50_000, "min_rtt_us": 40_000, "cwnd": 40, "inflight": 39}
    return blank._replace(**(usual | values))  # type: ignore[arg-type]


def test_the_state_is_the_authors() -> None:
    """Hand-computed: 1000 and 500 packets/s in two samples are 750; 40 packets in 50 ms, with 52
    bytes of headers for 1300 of payload, are 832."""
    monitor = Monitor(began_s=1.0)
    first = report(time_ns=1_010_000_000, acks=6, losses=1, rtt_avg_us=1,
                   rate_delivered=50, rate_interval_us=50_000)  # fmt: skip
    assert monitor.report(first) is None
    assert monitor.report(report(time_ns=1_015_000_000, rate_delivered=9,
                                 rate_interval_us=1)) is None  # fmt: skip
    second = first._replace(time_ns=1_025_000_000, acks=4, losses=2, rate_delivered=25)
    interval = monitor.report(second)
    assert interval is not None
    assert interval == pytest.approx(Interval(0.025, 750, 10, 3, 40, 832, 0.05, 0.04))
    values = state(interval, highest_per_s=1500)
    # 5 x 3 packets in 25 ms are 600/s; 1.25 x 40 ms are as much as 50 ms.
    assert values == pytest.approx((0.5, 832 / 1500, 0.4, 0.25, 0.025, 0.8, 1.0))
    # The next interval begins where this one ended.
    assert monitor.report(second._replace(time_ns=1_044_000_000)) is None


def test_the_state_has_limits() -> None:
    interval = Interval(0.02, 100, 5, 0, 50, 5000, 0.1, 0.02)
    assert state(interval, 100)[1] == 10
    assert state(interval, 100)[6] == pytest.approx(0.25)
    assert state(interval, 0)[:3] == (0, 0, 0)


@pytest.mark.parametrize(
    ("cwnd", "action", "wanted"),
    [(40, 0.0, 40), (40, 0.5, 80), (40, -1.0, 10), (33, 0.1, 37), (9, -1.0, 4), (90_000, 1, 1e5)],
)
def test_an_action_changes_the_window_by_whole_percents(
    cwnd: int, action: float, wanted: int
) -> None:
    assert window(cwnd, action) == wanted  # 33 x 1.1487: 114 % of 33 are 37.6


class _Fixed:
    def __init__(self, action: float) -> None:
        self.action, self.seen = action, list[list[float]]()

    def answer(self, seen: list[float]) -> float:
        self.seen.append(seen)
        return self.action


def test_the_agent_waits_until_slow_start_has_ended() -> None:
    fixed, flow = _Fixed(-0.5), Flow(report(event=START), 10.0)
    agent, cubic = Agent(fixed), Cubic()  # type: ignore[arg-type]
    agent.start(flow)
    assert flow.period_ms == 2
    agent.act(flow, report(), cubic)
    assert cubic.cwnd == 10  # There was no ACK.
    agent.act(flow, report(rtt_avg_us=1), cubic)
    assert cubic.cwnd == 11
    assert flow.pacing_bps == pytest.approx(40 * 1300 * 8 / 0.05)
    cubic.ssthresh = 10
    agent.act(flow, report(time_ns=0), cubic)
    assert flow.period_ms == 5
    sample = {"acks": 10, "rtt_avg_us": 1, "rate_delivered": 1, "rate_interval_us": 1000}
    cubic.cwnd = 80.5
    agent.act(flow, report(time_ns=20_000_000, **sample), cubic)
    assert cubic.cwnd == 40
    assert cubic.ssthresh == 10  # CUBIC goes on.
    (seen,) = fixed.seen
    assert seen[:63] == [0.0] * 63
    assert seen[63:66] == [1.0, pytest.approx(0.832), 0.0]
    agent.act(flow, report(time_ns=40_000_000, ca_state=3, **sample), cubic)
    assert cubic.cwnd == 40  # In a recovery the kernel sets the window.
    assert fixed.seen[1][56:63] == seen[63:]


def test_the_command_writes_a_file_that_the_policy_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "mine.json"
    monkeypatch.setattr(sys, "argv", ["published", "orca", "a/model.ckpt-1", str(output)])
    assert published.main(lambda _: checkpoint()) == 0
    assert capsys.readouterr().out.strip() == str(output)
    assert load(output).state == "published"
    assert json.loads(output.read_text())["made"]["checkpoint"] == "model.ckpt-1"


def _without_a_kernel(variables: dict[str, Any]) -> None:
    del variables["actor/fc2/kernel"]


def _nan(variables: dict[str, Any]) -> None:
    variables["actor/dense/bias"][0] = math.nan


def _flat(variables: dict[str, Any]) -> None:
    variables["actor/fc1/kernel"] = variables["actor/fc1/kernel"].ravel()


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (_without_a_kernel, "the checkpoint has no actor/fc2/kernel"),
        (_nan, "actor/dense/bias of the checkpoint has a value that is not a finite number"),
        (_flat, "actor/fc1/kernel of the checkpoint is 1680, not 70 x 24"),
        (
            lambda variables: variables.update(checkpoint(inputs=140)),
            "actor/fc1/kernel of the checkpoint is 140 x 24, not 70 x 24",
        ),
    ],
)
def test_another_checkpoint_is_one_error(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    spoil: Callable[[dict[str, Any]], None],
    says: str,
) -> None:
    variables = checkpoint()
    spoil(variables)
    monkeypatch.setattr(sys, "argv", ["published", "orca", "model", str(tmp_path / "mine.json")])
    assert published.main(lambda _: variables) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: {says}. Name the checkpoint")
    assert not (tmp_path / "mine.json").exists()


def test_a_missing_checkpoint_and_a_missing_tensorflow_are_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "model.ckpt-1"
    with pytest.raises(published.CheckpointError, match=r"there is no model\.ckpt-1\.index"):
        published.read(file)
    file.with_name("model.ckpt-1.index").touch()
    monkeypatch.setitem(sys.modules, "tensorflow", None)
    with pytest.raises(published.CheckpointError, match="pip install tensorflow-cpu"):
        published.read(file)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"state": "other"}, "state is 'other', not 'own' or 'published'"),
        ({"state": []}, r"state is \[\], not"),
        ({"state": "own"}, "not a network for orca: inputs is"),
        ({"history": 8}, "history is 8, not 10"),
        ({"leak": -0.2}, "leak is -0.2, not a number from 0 to 1"),
        ({"leak": True}, "leak is True"),
        ({"output": "linear"}, "output is 'linear', not 'cut' or 'tanh'"),
        ({"layers": []}, "layers: 70 outputs in place of 1"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, changed: dict[str, Any], says: str) -> None:
    with pytest.raises(network.PolicyError, match=says) as raised:
        load(write(tmp_path, checkpoint(), **changed))
    assert str(raised.value).startswith(f"{tmp_path}/published.json: ")


def test_deepcc_does_not_take_the_state_of_another(tmp_path: Path) -> None:
    file = write(tmp_path, checkpoint(), agent="deepcc")
    with pytest.raises(network.PolicyError, match="state is 'published', not 'own'"):
        network.load(file, "deepcc", orca.INPUTS, HISTORY)
