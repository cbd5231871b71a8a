# SPDX-License-Identifier: Apache-2.0
"""Run directories that somebody prepared to have ddu read what is not the run's."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ddu.analyze import analysis_of
from ddu.campaign.load import load_campaign
from ddu.console.problems import RefusedError
from ddu.errors import FutureSchema
from ddu.readers.iperf3 import read_iperf3, received_bytes
from ddu.readers.nr_link_flows import read_nr_link_flows
from ddu.run.integrity import sealed
from ddu.run.manifest import read_manifest, write_json
from ddu.store.contents import contents_of
from ddu.tables.results import read_summary, read_table
from testsupport.synthetic_run import SyntheticRun


@pytest.fixture
def run(tmp_path: Path) -> Path:
    made = SyntheticRun()
    made.write(tmp_path / "run")
    return tmp_path / "run"


def changed(run: Path, change: Callable[[dict[str, Any]], object]) -> None:
    file = run / "run.json"
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(content))


OUTSIDE = ["/etc/passwd", "../other/raw/sender.pcap", "raw/../../x", "raw/a\nb", ""]
KEYS: dict[str, Callable[[dict[str, Any], str], object]] = {
    "captures.0.file": lambda content, name: content["captures"][0].update(file=name),
    "sockets.0.file": lambda content, name: content.update(sockets=[{"host": "ue", "file": name}]),
    "mac.file": lambda content, name: content.update(mac={"file": name}),
    "link.file": lambda content, name: content.update(link={"file": name}),
    "link_summary": lambda content, name: content.update(link_summary=name),
    "cc_traces.0.file": lambda content, name: content.update(cc_traces=[{"cc": "x", "file": name}]),
}


@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize("key", KEYS)
def test_a_file_outside_of_the_run_is_refused(run: Path, key: str, name: str) -> None:
    if key == "captures.0.file":
        changed(run, lambda content: content.setdefault("captures", [{"host": "ue"}]))
    changed(run, lambda content: KEYS[key](content, name))
    with pytest.raises(RefusedError, match=f"run.json: {key}: .* is not a file in the run's"):
        read_manifest(run)


@pytest.mark.parametrize("flow", ["../../x", "f0\n"])
def test_a_flow_that_names_files_elsewhere_is_refused(run: Path, flow: str) -> None:
    changed(run, lambda content: content["flows"][0].update(id=flow))
    with pytest.raises(RefusedError, match=r"flows.0.id: .* a slash or a control character"):
        read_manifest(run)


def test_a_link_out_of_the_run_is_refused(run: Path, tmp_path: Path) -> None:
    capture = run / "raw/sender.pcap"
    capture.rename(tmp_path / "elsewhere")
    capture.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RefusedError, match=r"raw/sender\.pcap leads out of the run"):
        analysis_of(run)


def test_a_named_pipe_is_refused(run: Path) -> None:
    capture = run / "raw/sender.pcap"
    capture.unlink()
    os.mkfifo(capture)
    with pytest.raises(RefusedError, match="is a named pipe"):
        analysis_of(run)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ('{"a":' * 100_000, "nested too deep"),
        ("[" * 100_000, "nested too deep"),
        ('{"schema_version": ' + "9" * 200_000 + "}", "not valid JSON"),
        ('{"schema_version": NaN}', "schema_version"),
    ],
)
def test_json_that_parsers_cannot_read_is_refused(run: Path, text: str, rule: str) -> None:
    """These were tracebacks."""
    (run / "run.json").write_text(text)
    with pytest.raises(RefusedError, match=rule):
        read_manifest(run)


@pytest.mark.parametrize("key", ["interval_ms", "rtt_ms"])
def test_a_number_that_is_none_is_refused(run: Path, key: str) -> None:
    samples = {"host": "server", "file": "raw/sockets.pcap"}
    changed(run, lambda content: content.update(sockets=[samples]))
    where = "sockets.0" if key == "interval_ms" else "experiment"
    of = (lambda c: c["sockets"][0]) if key == "interval_ms" else (lambda c: c["experiment"])
    changed(run, lambda content: of(content).update({key: float("nan")}))
    with pytest.raises(RefusedError, match=f"run.json: {where}.{key}: .*finite number"):
        read_manifest(run)


@pytest.mark.parametrize(
    "content",
    [
        '{"schema": "nr-link-flows/1", "flows": [{"id": "f0"}]}',
        '{"schema": "nr-link-flows/1", "flows": [7]}',
        '{"schema": "nr-link-flows/1", "flows": [{"id": "f0", "start_utc_ns": "now"}]}',
    ],
)
def test_an_account_of_flows_of_others_is_one_error(tmp_path: Path, content: str) -> None:
    """These were tracebacks."""
    (tmp_path / "flows.json").write_text(content)
    with pytest.raises(RefusedError, match=r"flows\.json: not an account of flows"):
        read_nr_link_flows(tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        '{"start": {"timestamp": [1]}, "intervals": [{"streams": [{"start": NaN, "end": 1}]}]}',
        '{"start": {"timestamp": {"timesecs": 1e300}}, "intervals": [{"streams": [{"end": 1}]}]}',
        '{"start": {"timestamp": {"timesecs": 99999999999999}},'
        ' "intervals": [{"streams": [{"start": 0, "end": 1, "bytes": "many"}]}, {"streams": 3}]}',
    ],
)
def test_iperf3s_numbers_of_others_are_missing_values(tmp_path: Path, content: str) -> None:
    """These were tracebacks."""
    file = tmp_path / "iperf3-f0-server.json"
    file.write_text(content)
    table = read_iperf3(file).table
    assert table["utc_ns"].isna().all()


@pytest.mark.parametrize("end", ["[1]", '{"sum": [1]}', '{"sum": {"bytes": "many"}}', "7"])
def test_received_bytes_of_others_that_are_no_number_are_unknown(tmp_path: Path, end: str) -> None:
    (tmp_path / "iperf3-f0-server.json").write_text('{"end": ' + end + "}")
    assert received_bytes(tmp_path, "f0") is None


@pytest.mark.parametrize("version", ["2", None, [1], {}, 1.5])
def test_a_version_that_is_no_number_is_one_error(tmp_path: Path, version: object) -> None:
    campaign = campaign_with(tmp_path, campaign={"schema_version": version})
    with pytest.raises(RefusedError, match=r"campaign\.json: not a campaign\.json of ccu"):
        load_campaign(campaign)


def test_a_version_in_quotes_passes_for_no_older_one(run: Path) -> None:
    changed(run, lambda content: content.update(schema_version="2"))
    with pytest.raises(RefusedError, match=r"run\.json: schema_version: .*valid integer"):
        read_manifest(run)


@pytest.mark.parametrize(
    "record",
    [
        {"campaign": {"software": ["ccu"]}},
        {"campaign": {"campaign": ["title"]}},
        {"cell": {"levels": ["cubic"]}},
        {"cell": {"levels": "cubic"}},
        {"cell": {"levels": {"cc": ["cubic"]}}},
        {"cell": {"levels": {"cc": "reno"}}},
        {"cell": {"levels": {}}},
        {"cell": {"levels": {"cc": "cubic", "prb": "24"}}},
        {"cell": {"seed": None}},
        {"cell": {"seed": "1"}},
    ],
)
def test_a_campaign_of_others_is_one_error(tmp_path: Path, record: dict[str, Any]) -> None:
    with pytest.raises(RefusedError, match=r"(campaign|cell)\.json: ") as refused:
        load_campaign(campaign_with(tmp_path, **record))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("text", ["[]", "7", "null", '{"levels":' * 100_000, "{"])
@pytest.mark.parametrize("name", ["campaign.json", "cell.json"])
def test_a_record_that_is_none_is_one_error(tmp_path: Path, name: str, text: str) -> None:
    campaign = campaign_with(tmp_path)
    next(campaign.rglob(name)).write_text(text)
    with pytest.raises(RefusedError, match=rf"{name}: not a {name} of ccu"):
        load_campaign(campaign)


def test_a_record_that_is_a_pipe_is_one_error(tmp_path: Path) -> None:
    campaign = campaign_with(tmp_path)
    (file,) = campaign.rglob("cell.json")
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(RefusedError, match=r"cell\.json: is a named pipe"):
        load_campaign(campaign)


@pytest.mark.parametrize("key", ["failure", "verdict", "cost", "time", "experiment"])
@pytest.mark.parametrize("value", [7, "x", ["x"], {"x": ["y"]}])
def test_an_attempt_of_others_is_no_result(tmp_path: Path, key: str, value: object) -> None:
    campaign = campaign_with(tmp_path, run={key: value})
    (cell,) = load_campaign(campaign).cells
    assert isinstance(cell.reason, str)
    assert isinstance(cell.verdict, str)


def test_the_results_of_a_newer_version_are_refused(run: Path) -> None:
    summary = {"schema_version": 99, "verdict": "valid", "flows": "in another form"}
    write_json(run / "summary.json", summary)
    rule = r"summary\.json: schema_version 99 is newer than 1, the newest that this version reads"
    for read in (read_summary, lambda run: read_table(run, "aligned"), contents_of):
        with pytest.raises(FutureSchema, match=rule) as refused:
            read(run)
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize("integrity", [7, [], {"files": 7}, {"files": [7]}, {"files": [{}]}])
def test_digests_of_others_are_one_error(run: Path, integrity: object) -> None:
    """Also where the record says that it is sealed."""
    for name in ("run.json", "summary.json"):
        content = json.loads((run / name).read_text()) if name == "run.json" else {"verdict": "x"}
        content["integrity"] = integrity
        if isinstance(integrity, dict):
            content = sealed(content)
        (run / name).write_text(json.dumps(content))
        with pytest.raises(RefusedError, match=rf"{name}: was changed after it was written"):
            read_manifest(run) if name == "run.json" else read_summary(run)


def campaign_with(folder: Path, **records: dict[str, Any]) -> Path:
    """Make a campaign of one run, with these keys in place of its own, by record."""
    factors = {"cc": {"cubic": {"cc": "cubic"}}}
    about = {"name": "one", "profile": "full", "title": "One", "base": {}, "factors": factors}
    own: dict[str, dict[str, Any]] = {
        "campaign": {"schema_version": 1, "campaign": about},
        "cell": {"levels": {"cc": "cubic"}, "repeat": 0, "seed": 1},
        "run": {"status": "finished", "verdict": "invalid", "failure": None},
    }
    cell = folder / "campaign" / "runs" / "cc=cubic,seed=1"
    (cell / "run").mkdir(parents=True)
    files = {"campaign": folder / "campaign" / "campaign.json", "cell": cell / "cell.json"}
    files["run"] = cell / "run" / "run.json"
    for name, file in files.items():
        file.write_text(json.dumps(own[name] | records.get(name, {})))
    return folder / "campaign"
