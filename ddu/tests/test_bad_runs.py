# SPDX-License-Identifier: Apache-2.0
"""Runs that cannot be analysed are reported in one line, and nothing is left behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ddu.analyze import analysis_of
from ddu.api import analyze, open_run
from ddu.cli.main import app
from ddu.console.problems import RefusedError
from ddu.errors import FailedRun, FutureSchema, NotARun, UnreadableInput
from ddu.run.find import newest_run
from testsupport.synthetic_run import MS, T0, SyntheticRun, steady


def test_a_cut_capture_degrades_and_is_named_with_its_offset(tmp_path: Path) -> None:
    run = steady().write(tmp_path / "run")
    file = run / "raw" / "receiver.pcap"
    whole = file.read_bytes()
    file.write_bytes(whole[:-10])
    summary = analysis_of(run).summary
    assert summary["verdict"] == "degraded"
    record = 16 + 52  # the last packet is an ACK
    last = len(whole) - record if whole[-record + 8] == 52 else len(whole) - 16 - 128
    assert f"receiver.pcap is cut off at byte {last}" in " ".join(summary["verdict_reasons"])


@pytest.mark.parametrize("keep", [0, 24])
def test_an_empty_capture_is_refused_by_name(tmp_path: Path, keep: int) -> None:
    run = steady().write(tmp_path / "run")
    file = run / "raw" / "sender.pcap"
    file.write_bytes(file.read_bytes()[:keep])
    with pytest.raises(UnreadableInput, match=r"sender\.pcap"):
        analyze(run)
    assert sorted(path.name for path in run.iterdir()) == ["raw", "run.json"]


def test_a_missing_capture_is_refused_by_name(tmp_path: Path) -> None:
    run = steady().write(tmp_path / "run")
    (run / "raw" / "receiver.pcap").unlink()
    with pytest.raises(UnreadableInput, match=r"receiver\.pcap"):
        analyze(run)


def test_a_future_schema_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FutureSchema, match="schema_version 2"):
        analyze(steady().write(tmp_path / "run", schema_version=2))


def test_a_failed_run_says_its_reason(tmp_path: Path) -> None:
    failure = {"stage": "traffic", "reason": "port 5201 is taken"}
    with pytest.raises(FailedRun, match="port 5201 is taken"):
        analyze(steady().write(tmp_path / "run", status="failed", failure=failure))


def test_a_wrong_key_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="experiment"):
        analyze(steady().write(tmp_path / "run", experiment=7))


def flow_of(run: SyntheticRun, **changes: object) -> list[dict[str, object]]:
    (flow,) = run.manifest()["flows"]
    return [flow | changes]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schema_version": -1}, r"schema_version: .*greater than or equal to 1"),
        ({"flows": flow_of(steady(1)) * 2}, r"flows: f0 is there more than once"),
        ({"flows": flow_of(steady(1), control_port=-5)}, r"flows\.0\.control_port"),
        ({"flows": flow_of(steady(1), ue=-1)}, r"flows\.0\.ue"),
        (
            {"experiment": {"direction": "dl", "duration_s": -1}},
            r"experiment\.duration_s: .*greater than 0",
        ),
    ],
)
def test_what_would_be_counted_wrongly_is_refused(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(UnreadableInput, match=rf"run\.json: {message}.*\. Restore it"):
        analyze(steady(1).write(tmp_path / "run", **changes))


def test_a_directory_in_place_of_the_manifest(tmp_path: Path) -> None:
    (tmp_path / "run.json").mkdir()
    with pytest.raises(UnreadableInput, match=r"run\.json: Is a directory"):
        analyze(tmp_path)


def test_words_among_the_samples_cost_only_their_columns(tmp_path: Path) -> None:
    run = steady().write(tmp_path / "run", mac={"file": "raw/mac.csv", "source": "nr-link"})
    (run / "raw" / "mac.csv").write_text("utc_ns,duration_ns,ue\n1,abc,0\n")
    reasons = " ".join(analysis_of(run).summary["verdict_reasons"])
    assert "mac.csv: not valid numbers" in reasons


def test_a_word_among_the_mac_s_numbers_costs_only_its_columns(tmp_path: Path) -> None:
    run = steady().write(tmp_path / "run", mac={"file": "raw/mac.csv", "source": "nr-link"})
    rows = "1,1,0,15\n2,1,0,word\n"
    (run / "raw" / "mac.csv").write_text(f"utc_ns,duration_ns,ue,mac_cqi\n{rows}")
    reasons = " ".join(analysis_of(run).summary["verdict_reasons"])
    assert "mac.csv: not valid numbers in column mac_cqi" in reasons


def test_a_trace_with_words_for_its_threshold_has_none(tmp_path: Path) -> None:
    run = steady().write(tmp_path / "run", cc_traces=[{"cc": "cubic", "file": "raw/x.csv"}])
    (run / "raw" / "x.csv").write_text(f"utc_ns,dtt_us\n{T0},40\n{T0 + MS},word\n")
    (flow,) = analysis_of(run).summary["flows"]
    assert flow["dtt_source"] == "1.5 times the least RTT"


@pytest.mark.parametrize("text", ['{"verdict": ', "[]", "{}"])
def test_a_summary_that_is_not_whole_is_told_with_the_mend(tmp_path: Path, text: str) -> None:
    run = steady().write(tmp_path / "run")
    analyze(run, report=False)
    (run / "summary.json").write_text(text)
    with pytest.raises(UnreadableInput, match=r"summary\.json.*ddu analyze"):
        _ = open_run(run).summary


def test_a_table_that_is_not_whole_is_told_with_the_mend(tmp_path: Path) -> None:
    run = steady().write(tmp_path / "run")
    analyze(run, report=False)
    (run / "tables" / "aligned.parquet").write_text("PAR1")
    with pytest.raises(UnreadableInput, match=r"aligned\.parquet.*ddu analyze"):
        _ = open_run(run).aligned


def test_no_runs(tmp_path: Path) -> None:
    for where in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(NotARun):
            newest_run(where)
    with pytest.raises(NotARun, match=r"no run\.json"):
        analyze(tmp_path)


def test_the_newest_run_is_the_default(tmp_path: Path) -> None:
    for name in ("20260101T000000-cubic", "20260102T000000-cubic"):
        steady(10).write(tmp_path / name)
    assert newest_run(tmp_path).name == "20260102T000000-cubic"


def test_analysis_writes_everything_and_leaves_raw_alone(tmp_path: Path) -> None:
    run = steady().write(tmp_path / "run")
    before = {path: path.read_bytes() for path in (run / "raw").iterdir()}
    for _ in range(2):
        analyze(run)
    names = {"raw", "run.json", "tables", "figures", "report.html", "summary.json"}
    assert {path.name for path in run.iterdir()} == names
    assert {path: path.read_bytes() for path in (run / "raw").iterdir()} == before
    assert json.loads((run / "summary.json").read_text())["verdict"] == "valid"
    assert "http://" not in (run / "report.html").read_text().split('id="plotly"')[0].replace(
        "http://www.w3.org", ""
    )


def test_a_write_that_fails_keeps_the_earlier_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = steady().write(tmp_path / "run")
    analyze(run)
    before = (run / "summary.json").read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ddu.report.page.write_report", full)
    with pytest.raises(RefusedError, match="No space left"):
        analyze(run, bin_ns=50_000_000)
    assert (run / "summary.json").read_bytes() == before
    assert not list(run.glob(".analysis-*"))


@pytest.mark.parametrize("width", ["20", "0ms", "-1ms", "1h"])
def test_a_width_that_is_none_is_refused(width: str) -> None:
    result = CliRunner().invoke(app, ["analyze", "--bin", width])
    assert result.exit_code != 0


def test_without_a_report_none_of_an_earlier_analysis_stays(tmp_path: Path) -> None:
    run = steady().write(tmp_path / "run")
    whole = analyze(run)
    assert (run / "report.html").exists()
    made = CliRunner().invoke(app, ["analyze", "--no-report", str(run)])
    assert made.exit_code == 0, made.output
    assert open_run(run).summary == whole
    names = {path.name for path in run.iterdir()}
    assert names == {"raw", "run.json", "tables", "summary.json"}
