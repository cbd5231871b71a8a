# SPDX-License-Identifier: Apache-2.0
"""Orca and DeepCC, with the weights that are shipped, against CUBIC: links that training has not
seen, real TCP in virtual time."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from ccplane import network
from ccplane.learned import deepcc, orca, orca_published
from ccplane.learned.interval import HISTORY
from cctraining.episodes import Episodes
from cctraining.links import PACKET_BITS, STEP_S, Links
from testsupport.prepared import command
from testsupport.runs import Runs, received_bps, received_bps_by_second

BIN = Path(sys.executable).parent
INPUTS = {"orca": orca.INPUTS, "deepcc": deepcc.INPUTS}


class Result(NamedTuple):
    mbps: float
    mean_ms: float
    p95_ms: float


def result(experiments: Runs, *arguments: object) -> Result:
    """Throughput and RTT of a run."""
    summary = experiments.summary(*arguments)
    rtt_ms = summary["rtt_ms"]
    return Result(summary["throughput_bps"] / 1e6, rtt_ms["mean"], rtt_ms["p95"])


def averaged(experiments: Runs, *arguments: object) -> Result:
    """The means over three seeds."""
    results = [result(experiments, "--seed", seed, *arguments) for seed in (1, 2, 3)]
    return Result(*np.mean(results, axis=0))


def weights(folder: Path, agent: str, bias: float, scale: float = 0.0) -> Path:
    """A network that always answers `bias`, if `scale` is 0."""
    width = HISTORY * len(INPUTS[agent])
    # The second layer takes the difference of what the first makes of a large scale: inf - inf.
    layers = [
        {"weights": [[scale] * width] * 2, "biases": [0.0, 0.0]},
        {"weights": [[scale, -scale]], "biases": [bias]},
    ]
    content = {"schema": network.SCHEMA, "agent": agent, "inputs": list(INPUTS[agent]),
               "history": HISTORY, "layers": layers}  # fmt: skip
    file = folder / "mine.json"
    file.write_text(json.dumps(content))
    return file


# Fast links show within 10 s what CUBIC's queue of 3200 packets costs.
LINKS = {
    "constant-100M": ("--scenario", "constant-100M", "--duration", "10s"),
    "wifi-2.4": ("--scenario", "wifi-2.4", "--duration", "10s"),
    "cellular-4g": ("--scenario", "cellular-4g", "--duration", "20s"),
    "cellular-3g": ("--scenario", "cellular-3g", "--duration", "20s"),
    "mmwave-walking": ("--scenario", "mmwave-walking", "--duration", "10s"),
    "rome-moderate": ("--prb", 106, "--scenario", "rome-moderate", "--duration", "20s"),
}


# Least share of CUBIC's throughput, most of its mean RTT and of its 95th percentile.
@pytest.mark.parametrize(
    ("link", "throughput", "mean", "p95"),
    [
        ("constant-100M", 0.95, 0.15, 0.15),
        ("wifi-2.4", 0.95, 0.2, 0.2),
        ("cellular-4g", 0.9, 0.15, 0.1),
        ("cellular-3g", 0.7, 0.1, 0.05),
        ("mmwave-walking", 1.0, 0.15, 0.15),
    ],
)
def test_orca_has_most_of_cubics_throughput_without_its_queue(
    experiments: Runs, link: str, throughput: float, mean: float, p95: float
) -> None:
    ours, cubics = (result(experiments, "--cc", cc, *LINKS[link]) for cc in ("orca", "cubic"))
    assert ours.mbps > throughput * cubics.mbps
    assert ours.mean_ms < mean * cubics.mean_ms
    assert ours.p95_ms < p95 * cubics.p95_ms


def test_orca_over_a_radio_link_has_a_part_of_cubics_throughput(experiments: Runs) -> None:
    """A quarter to two thirds of it, as microseconds decide: the means of three seeds."""
    radio = LINKS["rome-moderate"]
    ours, cubics = (averaged(experiments, "--cc", cc, *radio) for cc in ("orca", "cubic"))
    assert ours.mean_ms < 0.15 * cubics.mean_ms
    assert ours.p95_ms < 0.15 * cubics.p95_ms
    assert ours.mbps > 0.35 * cubics.mbps


def test_orca_bears_random_loss(experiments: Runs) -> None:
    """Orca keeps most of 100 Mbit/s when 1 % of the packets is lost; CUBIC does not."""
    link = (*LINKS["constant-100M"], "--loss", "1%")
    ours, cubics = (result(experiments, "--cc", cc, *link) for cc in ("orca", "cubic"))
    assert ours.mbps > 60
    assert cubics.mbps < 10


@pytest.mark.parametrize("target_ms", [80, 100, 150])
@pytest.mark.parametrize("link", ["cellular-4g", "cellular-3g"])
def test_deepcc_keeps_the_rtt_below_its_target(
    experiments: Runs, link: str, target_ms: int
) -> None:
    parameters = ("--cc-param", f"target={target_ms}")
    ours = result(experiments, "--cc", "deepcc", *parameters, *LINKS[link])
    cubics = result(experiments, "--cc", "cubic", *LINKS[link])
    assert ours.mean_ms < target_ms
    # The capacity falls faster than any sender hears of it.
    assert ours.p95_ms < 1.4 * target_ms
    assert ours.mean_ms < 0.2 * cubics.mean_ms
    assert ours.mbps > 0.9 * cubics.mbps


@pytest.mark.parametrize("link", ["constant-100M", "rome-moderate", "mmwave-walking"])
def test_deepcc_keeps_its_target_on_faster_links(experiments: Runs, link: str) -> None:
    ours, cubics = (result(experiments, "--cc", cc, *LINKS[link]) for cc in ("deepcc", "cubic"))
    assert ours.mean_ms < 100 < cubics.mean_ms
    assert ours.mbps > 0.95 * cubics.mbps


def test_deepcc_above_reno_keeps_its_target(experiments: Runs) -> None:
    ours = result(experiments, "--cc", "deepcc", "--cc-param", "base=reno", *LINKS["cellular-4g"])
    assert ours.mean_ms < 100


# Over a constant link all seeds have the same packets.
@pytest.mark.parametrize("agent", ["orca", "deepcc"])
@pytest.mark.parametrize(
    ("link", "measured"), [("cellular-4g", averaged), ("constant-100M", result)]
)
def test_an_agent_that_does_nothing_is_the_kernels_cubic(
    experiments: Runs, tmp_path: Path, agent: str, link: str, measured: Callable[..., Result]
) -> None:
    idle = weights(tmp_path, agent, bias=0.0 if agent == "orca" else 1.0)
    ours = measured(experiments, "--cc", agent, "--cc-param", f"weights={idle}", *LINKS[link])
    cubics = measured(experiments, "--cc", "cubic", *LINKS[link])
    assert ours.mbps == pytest.approx(cubics.mbps, rel=0.05)
    assert ours.mean_ms == pytest.approx(cubics.mean_ms, rel=0.25)


def modelled(agent: str, mbps: float, rtt_s: float, buffer: float) -> Result:
    """The flow of `cctraining` with the shipped network, for 10 s over a constant link."""

    def draw(count: int, steps: int, _: np.random.Generator) -> Links:
        whole, none = np.ones(count, dtype=np.int64), np.zeros(count)
        return Links(
            capacity=np.full((count, steps), mbps * 1e6 / PACKET_BITS * STEP_S),
            delay_steps=whole * round(rtt_s / STEP_S),
            buffer=np.full(count, buffer),
            loss=none,
            burst_steps=whole,
            hold_chance=none,
            hold_steps=0 * whole,
            target_s=np.full(count, 0.1),
        )

    episodes = Episodes(agent, 1, np.random.default_rng(1), draw)
    answers = network.load(Path(agent), agent, INPUTS[agent], HISTORY)
    rtts_ms = []
    for _ in range(450):
        episodes.step(np.array([answers.answer(list(map(float, episodes.observations()[0])))]))
        flows = episodes.flows
        queue_s = (flows._at - flows.oldest[0]) * STEP_S
        rtts_ms.append(1000 * (rtt_s + queue_s))
    passed_mbps = flows.departures[0] * PACKET_BITS / (flows._at * STEP_S) / 1e6
    return Result(passed_mbps, float(np.mean(rtts_ms)), float(np.percentile(rtts_ms, 95)))


@pytest.mark.parametrize("agent", ["orca", "deepcc"])
def test_the_model_of_training_is_like_tcp(experiments: Runs, agent: str) -> None:
    """The distance of a policy's results in training from those with Linux's TCP."""
    real = result(experiments, "--cc", agent, *LINKS["constant-100M"])
    model = modelled(agent, 100.0, 0.020, 3200)
    # Of 1500 bytes, TCP's headers take 52.
    assert real.mbps == pytest.approx(model.mbps * 1448 / 1500, rel=0.05)
    assert real.mean_ms == pytest.approx(model.mean_ms, rel=0.15)


def published(folder: Path) -> Path:
    """A network in the published form with chosen weights: it grows where the newest delay is
    above 0.9, shrinks below. Its first layer is large enough for NumPy."""
    seen = orca_published.SEEN
    width, large = seen.history * len(seen.inputs), 160
    newest = [0.0] * (width - 1) + [1.0]
    layers = [
        {"weights": [newest, *([[0.0] * width] * (large - 1))], "biases": [0.0] * large},
        {"weights": [[1.0, *([0.0] * (large - 1))]], "biases": [-0.9]},
    ]
    content = {"schema": network.SCHEMA, "agent": "orca", "state": orca_published.NAME,
               "inputs": list(seen.inputs), "history": seen.history, "leak": 0.2,
               "output": "tanh", "layers": layers}  # fmt: skip
    file = folder / "published.json"
    file.write_text(json.dumps(content))
    return file


def test_a_network_in_the_published_form_runs(experiments: Runs, tmp_path: Path) -> None:
    """It holds 1.25 / 0.9 = 1.4 times the least RTT, 20 ms, at the full rate."""
    parameter = ("--cc-param", f"weights={published(tmp_path)}")
    ours = result(experiments, "--cc", "orca", *parameter, *LINKS["constant-100M"])
    cubics = result(experiments, "--cc", "cubic", *LINKS["constant-100M"])
    assert ours.mbps > 0.9 * cubics.mbps
    assert 22 < ours.mean_ms < 36


def test_a_network_that_answers_nan_leaves_the_flow_to_reno(
    experiments: Runs, tmp_path: Path
) -> None:
    bad = weights(tmp_path, "orca", bias=0.0, scale=1e300)
    parameter = ("--cc-param", f"weights={bad}")
    run = experiments("--cc", "orca", *parameter, *LINKS["cellular-4g"])
    content: dict[str, Any] = json.loads((run / "run.json").read_text())
    orcas = content["cc_implementation"]["orca"]
    assert orcas["plane"]["fallbacks"] == 1
    assert any("the network answers nan" in one for one in orcas["problems"])
    assert all(rate > 0 for rate in received_bps_by_second(run)[2:])
    # The weights are part of the run.
    assert (run / "raw/cc-orca-weights.json").read_bytes() == bad.read_bytes()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "not JSON"),
        ("[]", "schema is None, not 'ccplane-network/1'"),
        ('{"schema": "ccplane-network/1", "agent": "deepcc"}', "agent is 'deepcc', not 'orca'"),
        (
            '{"schema": "ccplane-network/1", "agent": "orca", "state": "theirs"}',
            "state is 'theirs', not 'own' or 'published'",
        ),
        (None, "no such file"),
    ],
)
def test_a_wrong_file_of_weights_is_one_error(
    kernel: Path, tmp_path: Path, content: str | None, says: str
) -> None:
    file = tmp_path / "mine.json"
    if content is not None:
        file.write_text(content)
    parameter = f"weights={file}"
    words = ["--testbed", "virtual", "--cc", "orca", "--cc-param", parameter]
    said = command("ccu", "run", "--no-report", *words, "--output", tmp_path / "runs")
    assert said.returncode == 2
    (line,) = said.stderr.splitlines()
    assert says in line
    assert str(file) in line
    assert not (tmp_path / "runs").exists()


def test_layers_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    content = json.loads(weights(tmp_path, "orca", bias=0.0).read_text())
    content["layers"][1]["weights"] = [[0.0, 0.0, 0.0]]
    (tmp_path / "mine.json").write_text(json.dumps(content))
    with pytest.raises(network.PolicyError, match="layer 2 does not fit 2 inputs"):
        network.load(tmp_path / "mine.json", "orca", orca.INPUTS, HISTORY)


def test_learned_flows_run_beside_others(experiments: Runs) -> None:
    """Trained alone on its link, Orca has little beside CUBIC (docs/congestion-controls.md)."""
    flows = "orca@0,cubic@5,deepcc@10"
    target = ("--cc-param", "deepcc.target=50")
    link = ("--scenario", "constant-100M", "--duration", "20s")
    run = experiments("--flows", flows, *target, *link)
    for flow in ("f0", "f1", "f2"):
        assert received_bps(run, flow) > 100_000
    used = json.loads((run / "run.json").read_text())["cc_implementation"]
    assert used["deepcc"]["parameters"]["target"] == 50
    assert not used["orca"]["plane"]["fallbacks"]
