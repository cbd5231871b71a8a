# SPDX-License-Identifier: Apache-2.0
"""A run in its lines: the time of a volume, losses, and the names of the accounts of bytes."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ddu.api import analyze
from ddu.checks import _of_checks
from ddu.report.numbers import accounts, headlines
from ddu.report.text import lines, next_step
from ddu.report.volume import completed
from testsupport.synthetic_run import steady

SEGMENT_BYTES = 1448


def summary_of(run: Path, *traffic: str | None) -> dict[str, Any]:
    """Return the summary of 100 segments, one each ms, that arrive 10 ms later."""
    made = steady()
    flows = made.manifest()["flows"]
    for flow, written in zip(flows, traffic, strict=True):
        flow |= {} if written is None else {"traffic": written}
    analyze(made.write(run, flows=flows), report=False)
    summary: dict[str, Any] = json.loads((run / "summary.json").read_text())
    return summary


def test_the_time_until_a_volume_has_arrived_is_shown(tmp_path: Path) -> None:
    summary = summary_of(tmp_path, f"tcp:{50 * SEGMENT_BYTES}B")
    assert summary["completion_s"] == pytest.approx(0.059)
    assert summary["flows"][0]["volume_bytes"] == 72_400
    verdict = next(line for line in lines(tmp_path, summary) if line.startswith("verdict"))
    assert " · 72.4 kB in 0.059 s · " in f"{verdict} · "
    card = headlines(summary)[0]
    assert (card.label, card.values, card.unit) == ("72.4 kB in", ["0.059"], "s")


@pytest.mark.parametrize("traffic", [None, "tcp", "tcp:1000000B", "udp:100M"])
def test_a_flow_that_ends_with_the_run_completes_nothing(
    tmp_path: Path, traffic: str | None
) -> None:
    summary = summary_of(tmp_path, traffic)
    assert "completion_s" not in summary
    assert completed(summary) is None
    assert headlines(summary)[0].label == "Goodput"


def test_flows_of_one_volume_are_counted() -> None:
    of_two: dict[str, Any] = {"completion_s": 8.31, "flows": [{"volume_bytes": 10**8}] * 2}
    assert completed(of_two) == ("2 times 100 MB", "8.31")
    of_two["flows"] = [{"volume_bytes": 10**8}, {"volume_bytes": 2 * 10**9}]
    assert completed(of_two) == ("2.1 GB", "8.31")
    assert completed(of_two | {"completion_s": 1234.5}) == ("2.1 GB", "1234")


def test_the_next_step_in_a_runs_own_folder_is_about_its_neighbours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one").mkdir()
    monkeypatch.chdir(tmp_path / "one")
    assert next_step(Path()).endswith(f"ddu compare {tmp_path}")


def test_no_sentence_names_another_program_than_ran(tmp_path: Path) -> None:
    """The built-in traffic was called iperf3."""
    made = steady().write(tmp_path)
    checks = analyze(made, report=False)["cross_checks"]
    checks |= {"iperf3_receiver_bytes": 10}
    run: Any = SimpleNamespace(captures={}, manifest=SimpleNamespace(flows=()))
    said = [row.label for row in accounts(checks)]
    for ratio in (0.9, None):
        checks |= {"readable_to_iperf3_ratio": ratio}
        said += [reason for _, reason in _of_checks(run, checks)]
    assert sum("traffic" in sentence for sentence in said) == 4
    assert not any("iperf3" in sentence for sentence in said)


@pytest.mark.parametrize("cc", ["udp", "udp_aimd", "quic-cubic"])
def test_losses_are_shown_of_datagrams_alone(tmp_path: Path, cc: str) -> None:
    """TCP sends them again, which its retransmissions show."""
    summary = summary_of(tmp_path, None)
    summary["flows"][0] |= {"lost_in_link_count": 77}
    assert "Lost in the link" not in next(lines(tmp_path, summary))
    summary["flows"][0] |= {"cc": cc, "retransmissions_count": None}
    title, row, *_ = lines(tmp_path, summary)
    assert title.endswith("Lost in the link")
    assert row.endswith("77 packets")
