# SPDX-License-Identifier: Apache-2.0
"""`ddu compare`: intervals, effect sizes, and what is left out."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from typer.testing import CliRunner

from ddu.api import analyze
from ddu.campaign.metrics import value
from ddu.cli.main import app
from ddu.compare.figures import over_time, plane
from ddu.compare.load import (
    Compared,
    load_runs,
    names_of,
    one_observation,
    same_runs,
    uncaptured,
    unfinished,
)
from ddu.compare.page import write_comparison
from ddu.compare.parting import partings, table
from ddu.compare.tables import (
    groups_table,
    means_text,
    mixtures,
    of_series,
    pairs_table,
    refuse_unknown,
    runs_table,
    series_of,
)
from ddu.console.problems import RefusedError
from ddu.report.figures import _half_width
from testsupport.synthetic_run import MS, T0, SyntheticRun


def made(label: str, throughput: float, seed: int, verdict: str = "valid") -> Compared:
    rng = np.random.default_rng(seed)
    bins = 500
    table = pd.DataFrame(
        {
            "t_s": np.arange(bins) * 0.02, "flow": "f0", "cc": label,
            "tcp_throughput_bps": throughput * (1 + 0.1 * rng.normal(size=bins)),
            "tcp_rtt_ms": 30 + rng.normal(size=bins), "tcp_rtt_count": 1,
        }
    )  # fmt: skip
    summary = {
        "verdict": verdict, "verdict_reasons": [], "throughput_bps": throughput,
        "rtt_ms": {"mean": 30.0, "p95": 32.0}, "cc": label, "bin_ms": 20.0, "duration_s": 10.0,
    }  # fmt: skip
    return Compared(Path(f"{label}-{seed}"), label, summary, table)


def test_runs_of_one_name_are_told_apart() -> None:
    paths = [Path("c/a/run1"), Path("c/b/run1"), Path("c/b/run2")]
    runs = [replace(made("cubic", 1e6, 1), path=path) for path in paths]
    assert names_of(runs) == ["a/run1", "b/run1", "run2"]
    table = runs_table(runs, ["throughput_bps"])
    assert list(table["run"]) == ["a/run1", "b/run1", "run2"]


REPEATS = [made("cubic", 10e6 + i * 1e5, i) for i in range(5)] + [
    made("reminis", 12e6 + i * 1e5, 10 + i) for i in range(4)
]


def test_groups_have_students_interval() -> None:
    row = groups_table(REPEATS, ["throughput_bps"]).iloc[0]
    values = [10e6 + i * 1e5 for i in range(5)]
    low, high = stats.t.interval(0.95, 4, np.mean(values), stats.sem(values))
    assert (row["low"], row["high"]) == (pytest.approx(low), pytest.approx(high))
    assert row["runs"] == 5


def test_the_terminal_shows_each_metric_of_each_group() -> None:
    lines = means_text(REPEATS, ["throughput_bps", "rtt_ms.p95", "jain_throughput"]).splitlines()
    assert [line.split() for line in lines] == [
        ["cubic", "(n=5)", "reminis", "(n=4)"],
        ["throughput_bps", "1.02e+07", "1.215e+07"],
        ["rtt_ms.p95", "32", "32"],
    ]
    assert means_text([made("cubic", 1e6, 1, "invalid")], ["throughput_bps"]) == (
        "no run has a result"
    )


def test_what_no_run_has_is_named() -> None:
    said = "no run with a result has a number for jain_throughput"
    assert means_text(REPEATS, ["jain_throughput"]) == said


def test_a_page_without_intervals_has_numbers_that_json_has(tmp_path: Path) -> None:
    """A script cannot read NaN: no figure was shown at all."""
    runs = [made("cubic", 1e7, 1), made("reminis", 1.2e7, 2)]
    for run in runs:
        run.aligned["tcp_throughput_bps"] = 1e7
    page = write_comparison(tmp_path, runs, ["throughput_bps"], "cc").read_text()
    (figures,) = re.findall(r'id="figures">(.*?)</script>', page, re.DOTALL)
    json.loads(figures, parse_constant=pytest.fail)


def test_runs_with_wider_bins_are_lines_over_time() -> None:
    runs = [made("cubic", 1e7, 1), made("reminis", 1.2e7, 2)]
    for run in runs:
        run.aligned["t_s"] *= 25
        run.summary["bin_ms"] = 500.0
    for series in over_time(runs).plots[0].series:
        assert np.isfinite(series.y).sum() == len(series.y) == 500


def test_runs_in_both_directions_have_the_radio_of_the_first_flow() -> None:
    runs = [made("cubic", 1e7, 1), made("reminis", 1.2e7, 2)]
    for run in runs:
        run.aligned["mac_dl_mcs"] = run.aligned["mac_ul_mcs"] = 5.0
        flows = [{"id": "f0", "direction": "dl"}, {"id": "f1", "direction": "ul"}]
        run.summary.update({"direction": "bidir", "flows": flows})
    assert "MCS" in [plot.title for plot in over_time(runs).plots]


def test_pairs_have_welchs_interval_and_effect_sizes() -> None:
    row = pairs_table(REPEATS, ["throughput_bps"]).iloc[0]
    a = np.array([10e6 + i * 1e5 for i in range(5)])
    b = np.array([12e6 + i * 1e5 for i in range(4)])
    assert row["difference"] == pytest.approx(b.mean() - a.mean())
    # Welch and Satterthwaite, step by step.
    va, vb = a.var(ddof=1) / 5, b.var(ddof=1) / 4
    df = (va + vb) ** 2 / (va**2 / 4 + vb**2 / 3)
    reach = stats.t.ppf(0.975, df) * np.sqrt(va + vb)
    assert row["high"] - row["low"] == pytest.approx(2 * reach)
    pooled = np.sqrt((4 * a.var(ddof=1) + 3 * b.var(ddof=1)) / 7)
    g = (b.mean() - a.mean()) / pooled * (1 - 3 / (4 * 7 - 1))
    assert row["hedges_g"] == pytest.approx(g)
    assert row["cliffs_delta"] == 1.0


def test_one_run_each_has_the_interval_of_its_series() -> None:
    runs = [made("cubic", 10e6, 1), made("reminis", 12e6, 2)]
    groups = groups_table(runs, ["throughput_bps"])
    assert (groups["low"] < groups["mean"]).all()
    assert groups["method"].str.contains("bootstrap").all()
    row = pairs_table(runs, ["throughput_bps"]).iloc[0]
    assert row["low"] < 2e6 < row["high"]
    assert pd.isna(row["hedges_g"])


def test_the_interval_of_a_series_covers_its_mean() -> None:
    """Over 40 series of known mean, about 95 % of the intervals hold it."""
    covered = 0
    for seed in range(40):
        row = runs_table([made("cubic", 10e6, seed)], ["throughput_bps"]).iloc[0]
        covered += row["throughput_bps.low"] <= 10e6 <= row["throughput_bps.high"]
    assert covered >= 33


def burst_and_trickle(directory: Path) -> Path:
    """Two seconds of many packets with a queue, then two of few without one: of the bins with a
    sample, half have an RTT of 20 ms, and of the samples one in ten."""
    run = SyntheticRun()
    run.handshake()
    rng = np.random.default_rng(1)
    sent_at = np.concatenate([np.arange(0, 2000, 2), np.arange(2000, 4003, 20)]) * MS
    for index, at in enumerate(sent_at):
        rtt = (60 if at < 2000 * MS else 20) * MS + int(rng.uniform(0, 10) * MS)
        run.data(at, index * 1448, 1448, 100 + index, at + rtt // 2)
        run.ack(at + rtt // 2, (index + 1) * 1448, 100 + index, at + rtt)
    return run.write(directory / "burst")


def test_the_interval_of_one_run_is_about_its_number(tmp_path: Path) -> None:
    """The interval is of the mean over samples, and of the rate over the traffic time, not over
    bins, which is 43 ms here."""
    run, _ = load_runs([burst_and_trickle(tmp_path), varied(tmp_path, "reno", 1)], "run")
    assert run.summary["rtt_ms"]["mean"] > 60
    for metric in ("rtt_ms.mean", "throughput_bps"):
        row = groups_table([run], [metric]).iloc[0]
        assert row["mean"] == value(run.summary, metric)
        assert row["low"] < row["mean"] < row["high"]
        own = runs_table([run], [metric]).iloc[0]
        assert (own[f"{metric}.low"], own[f"{metric}.high"]) == (row["low"], row["high"])


@pytest.mark.parametrize("bin_ms", [7, 20, 30, 150])
def test_a_series_weighs_as_the_number_of_the_run(tmp_path: Path, bin_ms: int) -> None:
    path = burst_and_trickle(tmp_path)
    analyze(path, bin_ms * MS, report=False)
    run, _ = load_runs([path, varied(tmp_path, "reno", 1)], "run")
    samples = run.aligned["tcp_rtt_count"].sum()
    # ACKs of the last packets return after the traffic time: their samples are in no bin.
    for metric, tolerance in (("rtt_ms.mean", 2 / samples), ("throughput_bps", 1e-9)):
        values, weights = series_of(run, metric)
        known = weights > 0
        mean = np.average(values[known], weights=weights[known])
        assert mean == pytest.approx(value(run.summary, metric), rel=tolerance)


def test_a_run_without_a_series_has_no_interval() -> None:
    run = made("udp", 1e6, 1)
    run.aligned[["tcp_throughput_bps", "tcp_rtt_ms", "tcp_rtt_count"]] = np.nan
    for metric in ("rtt_ms.mean", "throughput_bps"):
        assert of_series(run, metric).low is None


def test_invalid_runs_are_listed_and_in_no_mean() -> None:
    runs = [*REPEATS, made("cubic", 99e6, 99, verdict="invalid")]
    assert len(runs_table(runs, ["throughput_bps"])) == 10
    row = groups_table(runs, ["throughput_bps"]).iloc[0]
    assert row["mean"] == pytest.approx(10.2e6)


def test_a_mixture_is_told() -> None:
    other = made("cubic", 10e6, 50)
    other.summary["prb"] = 24
    (sentence,) = mixtures([*REPEATS, other])
    assert sentence.startswith("The runs of cubic differ in prb (24, None)")
    assert not mixtures(REPEATS)


def varied(directory: Path, cc: str, seed: int, **changes: object) -> Path:
    rng = np.random.default_rng(seed)
    run = SyntheticRun(ccs=(cc,))
    run.handshake()
    at = 0
    for index in range(400):
        at += int(rng.uniform(1, 9) * MS)
        run.data(at, index * 1448, 1448, 100 + index, at + 10 * MS)
        run.ack(at + 10 * MS, (index + 1) * 1448, 100 + index, at + 20 * MS)
    return run.write(directory / f"{cc}-{seed}", **changes)


def test_a_pair_that_parts_names_later_changes_of_it_too() -> None:
    """The page called the difference the effect of the first one alone."""
    base, changed = made("cubic", 10e6, 1), made("cubic", 10e6, 2)
    base.summary["changes"] = [{"t_s": 9.0, "at_s": 9.0, "change": "rtt=40ms"}]
    changed.summary["changes"] = [
        {"t_s": at_s, "at_s": at_s, "change": change}
        for at_s, change in ((2.0, "prb=24"), (3.0, "cc=bbr"))
    ]
    (parted,) = partings([base, changed]).values()
    assert parted.text == "prb=24"
    assert parted.later == ("cc=bbr from 3.000 s on", "not rtt=40ms from 9.000 s on")


def analysed(directory: Path, cc: str, seed: int, **changes: object) -> None:
    """Make a run and analyse it without a report, which is half of what its analysis costs."""
    analyze(varied(directory, cc, seed, **changes), report=False)


def test_the_mean_after_a_change_ends_with_the_traffic() -> None:
    """The last bin, of which the traffic fills a part, was a tenth of the second's mean."""
    base, changed = made("cubic", 10e6, 1), made("cubic", 10e6, 2)
    for run, duration_s in ((base, 9.981), (changed, 9.9)):
        run.summary["duration_s"] = duration_s
        run.aligned["tcp_throughput_bps"] = np.where(run.aligned["t_s"] < duration_s, 10e6, 0.0)
    changed.summary["changes"] = [{"t_s": 9.0, "at_s": 9.0, "change": "cc=bbr"}]
    (parted,) = partings([base, changed]).values()
    rate = table(parted)[0]
    assert (rate["without"], rate["with"], rate["difference"]) == (10.0, 10.0, 0.0)
    # What arrives when nothing is sent any more empties a queue.
    base.aligned["tcp_sending_rate_bps"] = np.where(base.aligned["t_s"] < 9.5, 10e6, 0.0)
    base.aligned.loc[base.aligned["t_s"] >= 9.5, "tcp_throughput_bps"] = 2e6
    assert table(parted)[0]["difference"] == 0.0


def test_repeats_with_the_same_change_do_not_part() -> None:
    """Its time counts from the first packet, which is another in each run."""
    first, second = made("cubic", 10e6, 1), made("cubic", 10e6, 2)
    first.summary["changes"] = [{"t_s": 0.995, "at_s": 1.0, "change": "cc=bbr"}]
    second.summary["changes"] = [{"t_s": 0.991, "at_s": 1.0, "change": "cc=bbr"}]
    assert partings([first, second]) == {}
    second.summary["changes"] += [{"t_s": 7.99, "at_s": 8.0, "change": "rtt=40ms"}]
    (parted,) = partings([first, second]).values()
    assert (parted.t_s, parted.text) == (7.99, "rtt=40ms")


def test_the_traffic_times_are_told_as_they_are() -> None:
    """They were rounded to tens, so that 4 s and 6 s were `0.0` and `10.0`."""
    runs = [made("cubic", 10e6, seed) for seed in range(3)]
    for run, duration_s in zip(runs, (9.8, 10.0, 10.2), strict=True):
        run.summary["duration_s"] = duration_s
    assert not mixtures(runs)
    runs[0].summary["duration_s"] = 3.97
    (sentence,) = mixtures(runs)
    assert sentence.startswith("The runs of cubic differ in duration_s (3.97, 10, 10.2)")
    for run in runs:
        run.settings["traffic.volume_bytes"] = 10**6
    assert not mixtures(runs), "the time that a volume takes is a result"
    for run in runs:
        run.settings.clear()
        run.summary["flows"] = [{"volume_bytes": 10**6}]  # quic:volume=1MB
    assert not mixtures(runs)


def test_two_runs_against_one_are_not_one_each() -> None:
    runs = [*REPEATS[:2], made("reno", 5e6, 3)]
    row = pairs_table(runs, ["rtt_ms.p95"]).iloc[0]
    assert row["method"] == "one run in one of the groups, no interval"
    row = pairs_table([runs[0], runs[2]], ["rtt_ms.p95"]).iloc[0]
    assert row["method"] == "one run each, no interval"


BASE = {"cc": "cubic", "direction": "dl", "prb": 106, "scenario": "static", "rtt_ms": 20.0}
NO_LIMIT = {"packets": None, "bytes": None}
DIFFERENCES = [
    ({}, {"rtt_ms": 100.0}, "rtt 20 ms", "rtt 100 ms"),
    ({"cc_params": {}}, {"cc_params": {"dtt": "40ms"}}, "", "dtt=40ms"),
    ({"buffer": NO_LIMIT | {"packets": 100}}, {"buffer": NO_LIMIT | {"bytes": 5000}},
     "buffer 100 packets", "buffer 5000 bytes"),
    ({"ul_buffer": None}, {"ul_buffer": NO_LIMIT | {"packets": 9}}, "", "ul buffer 9 packets"),
    ({"ues": 1}, {"ues": 4}, "ues 1", "ues 4"),
    ({"aqm": "droptail"}, {"aqm": "codel"}, "droptail", "codel"),
    ({"ecn": False}, {"ecn": True}, "no ecn", "ecn"),
    ({"loss": {"dl": 0.0, "ul": 0.0}}, {"loss": {"dl": 0.1, "ul": 0.1}}, "loss 0", "loss 0.1"),
    ({"loss": {"dl": 0.1, "ul": 0.1}}, {"loss": {"dl": 0.1, "ul": 0.2}},
     "loss ul 0.1", "loss ul 0.2"),
    ({"path": {"dl": {"queue": None}}}, {"path": {"dl": {"queue": {"packets": 5}}}},
     "", "path dl queue 5 packets"),
    ({}, {"radio": {"layers": {"dl": 4, "ul": 2}}}, "", "layers dl 4, layers ul 2"),
    ({}, {"radio": {"scheduler": "pf"}}, "", "scheduler pf"),
    ({"duplex": "fdd"}, {"duplex": {"tdd": {"pattern": "DDDSU", "special": {"dl_symbols": 6}}}},
     "fdd", "DDDSU"),
    ({"flows": [{"cc": "cubic", "start_s": 0.0}]},
     {"flows": [{"cc": "cubic", "start_s": 0.0}, {"cc": "cubic", "start_s": 5.0}]},
     "cubic@0", "cubic@0, cubic@5"),
    ({"flows": [{"cc": "quic-mine", "start_s": 0.0, "quic": "./mine.py+queue_ms=5"}]},
     {"flows": [{"cc": "quic-mine", "start_s": 0.0, "quic": "./mine.py+queue_ms=15"}]},
     "quic:./mine.py+queue_ms=5", "quic:./mine.py+queue_ms=15"),
    ({"testbed": "virtual", "aqm": "droptail", "gro": True},
     {"testbed": "oai", "aqm": None, "gro": True}, "virtual", "oai"),
    ({"duration_s": 10.0}, {"duration_s": 20.0}, "duration 10 s", "duration 20 s"),
    ({"traffic": {"kind": "tcp"}}, {"traffic": {"kind": "udp", "rate_bps": 5}},
     "tcp", "udp, rate 5 bit/s"),
    ({"prb": 24}, {"prb": 106}, "24 PRB", "106 PRB"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "first", "second"), DIFFERENCES)
def test_runs_of_two_experiments_are_two_groups(
    tmp_path: Path, one: dict[str, object], other: dict[str, object], first: str, second: str
) -> None:
    """They were averaged as two repeats of `cubic`."""
    analysed(tmp_path, "cubic", 1, experiment=BASE | one)
    analysed(tmp_path, "cubic", 2, experiment=BASE | other)
    labels = [run.label for run in load_runs([tmp_path], "cc")]
    assert labels == [f"cubic, {first}" if first else "cubic", f"cubic, {second}"]


ALIKE = [
    ({"seed": 1}, {"seed": 2}),
    ({"capture": True, "explain": True, "snaplen_bytes": 128}, {"snaplen_bytes": 1500}),
    ({"gro": True, "loss": {"dl": 0, "ul": 0}}, {"loss": {"dl": 0.0, "ul": 0.0}}),  # an older run
    ({"oai": {"capture_n3": True}}, {"oai": {"capture_n3": False}}),
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_what_changes_no_packet_makes_no_other_experiment(
    tmp_path: Path, one: dict[str, object], other: dict[str, object]
) -> None:
    analysed(tmp_path, "cubic", 1, experiment=BASE | one)
    analysed(tmp_path, "cubic", 2, experiment=BASE | other)
    assert [run.label for run in load_runs([tmp_path], "cc")] == ["cubic", "cubic"]


def test_a_group_without_differences_keeps_its_label(tmp_path: Path) -> None:
    for seed, rtt_ms in enumerate((20.0, 20.0, 100.0)):
        analysed(tmp_path, "cubic", seed, experiment=BASE | {"rtt_ms": rtt_ms})
        analysed(tmp_path, "reno", seed, experiment=BASE | {"cc": "reno"})
    groups = {run.label for run in load_runs([tmp_path], "cc")}
    assert groups == {"cubic, rtt 20 ms", "cubic, rtt 100 ms", "reno"}
    assert {run.label for run in load_runs([tmp_path], "scenario")} == {
        "static, cubic, rtt 20 ms", "static, cubic, rtt 100 ms", "static, reno, rtt 20 ms",
    }  # fmt: skip


def test_of_many_differences_a_label_has_those_of_few(tmp_path: Path) -> None:
    """One setting at a time from a base: `cubic, rtt 20 ms, droptail, ues 1, no ecn` says less."""
    base = BASE | {"aqm": "droptail", "ues": 1, "ecn": False, "ul_buffer": None}
    for number, changed in enumerate(
        ({}, {"seed": 2}, {"rtt_ms": 100.0}, {"aqm": "codel"}, {"ues": 4}, {"ecn": True})
    ):
        analysed(tmp_path, "cubic", number, experiment=base | changed)
    assert [run.label for run in load_runs([tmp_path], "cc")] == [
        "cubic", "cubic", "cubic, rtt 100 ms", "cubic, codel", "cubic, ues 4", "cubic, ecn",
    ]  # fmt: skip


def test_runs_of_two_experiments_do_not_part(tmp_path: Path) -> None:
    changed = {"changes": [{"at_s": 1.0, "key": "cc", "value": "bbr", "utc_ns": T0 + 1000 * MS}]}
    analysed(tmp_path, "cubic", 1, experiment=BASE)
    analysed(tmp_path, "cubic", 2, experiment=BASE, **changed)
    assert len(partings(load_runs([tmp_path], "cc"))) == 1
    analysed(tmp_path, "cubic", 3, experiment=BASE | {"rtt_ms": 100.0}, **changed)
    assert len(partings(load_runs([tmp_path], "cc"))) == 1


def test_two_sources_of_one_name_are_two_congestion_controls(tmp_path: Path) -> None:
    for seed, digest in enumerate(("a" * 64, "b" * 64)):
        made_of = {"cubic": {"kind": "bpf", "sha256": digest}}
        analysed(tmp_path, "cubic", seed, experiment=BASE, cc_implementation=made_of)
    labels = [run.label for run in load_runs([tmp_path], "cc")]
    assert labels == ["cubic, source cubic aaaaaaa", "cubic, source cubic bbbbbbb"]


def test_a_long_value_is_numbered(tmp_path: Path) -> None:
    for seed in range(2):
        cells = {"cells": [{"name": f"cell-{number}-{seed}"} for number in range(9)]}
        analysed(tmp_path, "cubic", seed, experiment=BASE | {"radio": cells})
    labels = [run.label for run in load_runs([tmp_path], "cc")]
    assert labels == ["cubic, cells no. 1", "cubic, cells no. 2"]


def test_one_seed_in_virtual_time_is_one_observation(tmp_path: Path) -> None:
    virtual = {"experiment": BASE | {"seed": 7}, "seeds": {"experiment": 7}}
    for number, clock in enumerate(("virtual", "virtual", "CLOCK_REALTIME", "CLOCK_REALTIME")):
        time = at(T0 + number) | {"time": {"start_utc_ns": T0 + number, "clock": clock}}
        folder = tmp_path / clock / str(number)
        varied(folder, "cubic", 1, **virtual | time)
    loaded = load_runs([tmp_path / "virtual"], "cc")
    (sentence,) = one_observation(loaded)
    assert "are one observation, and count once" in sentence
    assert groups_table(loaded, ["throughput_bps"])["runs"].tolist() == [1]
    assert len(runs_table(loaded, ["throughput_bps"])) == 2
    ran = CliRunner().invoke(
        app, ["compare", str(tmp_path / "virtual"), "--to", str(tmp_path / "comparison")]
    )
    assert sentence in ran.output
    assert "cubic (n=1)" in ran.output
    real = load_runs([tmp_path / "CLOCK_REALTIME"], "cc")
    assert not one_observation(real)
    assert groups_table(real, ["throughput_bps"])["runs"].tolist() == [2]


def test_the_command_writes_page_tables_and_figures(tmp_path: Path) -> None:
    for cc in ("cubic", "reminis"):
        for seed in (1, 2):
            varied(tmp_path / "runs", cc, seed)
    to = tmp_path / "comparison"
    for _ in range(2):
        ended = CliRunner().invoke(app, ["compare", str(tmp_path / "runs"), "--to", str(to)])
        assert ended.exit_code == 0, ended.output
        *_, following, page_path = ended.output.splitlines()
        assert following == f"next: ddu serve {tmp_path / 'runs'}"
        assert page_path == str(to / "comparison.html")
    names = {file.name for file in to.iterdir()}
    tables = {"runs.csv", "groups.csv", "pairs.csv"}
    assert names == {"comparison.html", "comparison.json", "figures"} | tables
    page = (to / "comparison.html").read_text()
    assert page.count("data:image/svg+xml") == 4
    ours = re.sub(r'id="plotly">.*?</script>', "", page, flags=re.DOTALL)
    assert "http" not in ours.replace("http://www.w3.org/2000/svg", "")
    links = re.findall(r'<a href="([^"]+)">', page)
    assert len(links) == 4
    assert all((to / link / "run.json").exists() or (to / link).is_file() for link in links)
    figures = json.loads(re.search(r'id="figures">(.*?)</script>', page)[1])
    names = [trace["name"] for trace in figures["over-time"]["data"][:2]]
    assert names == ["cubic (n = 2)", "reminis (n = 2)"]
    groups = pd.read_csv(to / "groups.csv")
    assert set(groups["group"]) == {"cubic", "reminis"}


def at(ns: int) -> dict[str, object]:
    """Return the part of run.json of a run that started then."""
    return {"run": f"run-of-{ns}", "time": {"start_utc_ns": ns}}


def test_a_copied_run_is_counted_once(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    for seed in (1, 2):
        varied(runs, "cubic", seed, **at(T0 + seed))
    shutil.copytree(runs / "cubic-1", runs / "renamed")
    (tmp_path / "link").symlink_to(runs / "cubic-2")
    loaded = load_runs([runs, runs / "cubic-2", tmp_path / "link"], "cc")
    assert [run.path.name for run in loaded] == ["cubic-1", "cubic-2"]
    (sentence,) = same_runs(loaded)
    assert sentence == f"{runs}/cubic-1 and {runs}/renamed hold the same run: it is counted once"
    assert groups_table(loaded, ["throughput_bps"])["runs"].tolist() == [2]


def test_runs_of_one_name_that_started_at_two_instants_are_two(tmp_path: Path) -> None:
    for seed in (1, 2):
        varied(tmp_path, "cubic", seed, **at(T0 + seed) | {"run": "the-same"})
    assert not same_runs(load_runs([tmp_path], "cc"))


def test_a_run_and_its_copy_are_no_comparison(tmp_path: Path) -> None:
    varied(tmp_path, "cubic", 1, **at(T0))
    shutil.copytree(tmp_path / "cubic-1", tmp_path / "cubic-2")
    same = r"^1 run given; .*cubic-1 and .*cubic-2 hold the same run\. Give two or more [a-z ]*$"
    with pytest.raises(RefusedError, match=same):
        load_runs([tmp_path], "cc")


@pytest.mark.parametrize("count", [1, 2, 3])
def test_an_ellipse_is_about_its_cross(count: int) -> None:
    """Whether it is of the repeats or of a run's seconds, whose mean is another."""
    runs = [made("cubic", 10e6 + 1e6 * seed**2, seed) for seed in range(count)]
    for run in runs:
        run.summary["rtt_ms"]["mean"] = 40.0 + run.summary["throughput_bps"] / 1e6
    (plot,) = plane(runs).plots
    (area,) = [each for each in plot.series if each.kind == "area"]
    (mean,) = [each for each in plot.series if each.kind == "mean"]
    assert area.x.mean() == pytest.approx(mean.x[0])
    assert area.y.mean() == pytest.approx(mean.y[0])


def test_one_run_is_no_comparison(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="two or more"):
        load_runs([varied(tmp_path, "cubic", 1)], "cc")


def test_a_metric_that_no_run_has_is_told_with_those_near_it(tmp_path: Path) -> None:
    runs = load_runs([varied(tmp_path, "cubic", 1), varied(tmp_path, "reno", 2)], "cc")
    refuse_unknown(runs, ["rtt_ms.p95"])
    with pytest.raises(RefusedError, match=r"Did you mean .*rtt_ms\.p95"):
        refuse_unknown(runs, ["rtt_ms.p59"])
    usual = r"^--metric: no metric 'foo'\. There are throughput_bps, goodput_bps, .* and others "
    with pytest.raises(RefusedError, match=rf"{usual}\(docs/metrics\.md\)$"):
        refuse_unknown(runs, ["foo"])
    with pytest.raises(RefusedError, match=r"no run here has completion_s\. Compare runs that"):
        refuse_unknown(runs, ["completion_s"])


def test_a_run_that_failed_is_none_to_compare(tmp_path: Path) -> None:
    varied(tmp_path, "cubic", 1)
    varied(tmp_path, "reno", 2)
    failed = varied(tmp_path, "vegas", 3) / "run.json"
    failed.write_text(json.dumps(json.loads(failed.read_text()) | {"status": "failed"}))
    assert {run.label for run in load_runs([tmp_path], "cc")} == {"cubic", "reno"}
    assert unfinished([tmp_path]) == [failed.parent]


def test_a_run_without_a_capture_is_left_out(tmp_path: Path) -> None:
    varied(tmp_path, "cubic", 1)
    varied(tmp_path, "reno", 2)
    without = varied(tmp_path, "vegas", 3)
    content = json.loads((without / "run.json").read_text())
    (without / "run.json").write_text(json.dumps(content | {"captures": []}))
    to = tmp_path / "comparison"
    ran = CliRunner().invoke(app, ["compare", str(tmp_path), "--to", str(to)])
    assert ran.exit_code == 0, ran.exception
    assert "runs left out that have no capture: 1" in ran.output
    assert "next: ccu run each with another --seed" in ran.output
    assert uncaptured([tmp_path]) == [without]
    with pytest.raises(RefusedError, match=r"has no capture, .* without --no-capture"):
        load_runs([tmp_path / "cubic-1", without], "cc")


def test_the_interval_follows_from_the_number_of_batches() -> None:
    values = np.random.default_rng(1).normal(size=10)
    low, high = stats.t.interval(0.95, 9, values.mean(), stats.sem(values))
    assert _half_width(values) == pytest.approx((high - low) / 2)


DAMAGES = {
    "run.json": ("{", "run.json: not valid JSON"),
    "raw/sender.pcap": ("not a capture", "sender.pcap"),
}


@pytest.mark.parametrize("damaged", DAMAGES)
def test_a_run_that_cannot_be_read_is_named_and_left_out(tmp_path: Path, damaged: str) -> None:
    """It stopped the comparison of all others."""
    runs = tmp_path / "runs"
    varied(runs, "cubic", 1)
    varied(runs, "reno", 2)
    text, message = DAMAGES[damaged]
    (varied(runs, "vegas", 3) / damaged).write_text(text)
    words = ["compare", str(runs), "--to", str(tmp_path / "comparison")]
    ran = CliRunner().invoke(app, words)
    assert ran.exit_code == 1
    assert message in ran.output
    assert "runs left out that cannot be read: 1" in ran.output
    assert list((tmp_path / "comparison").iterdir())
    shutil.rmtree(runs / "reno-2")
    with pytest.raises(RefusedError, match=rf"(?s){message}.*1 run"):
        CliRunner().invoke(app, words, catch_exceptions=False)
