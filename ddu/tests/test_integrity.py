# SPDX-License-Identifier: Apache-2.0
"""Results are those of one analysis, raw data those of the run; what is not is refused by name."""

from __future__ import annotations

import copy
import errno
import functools
import json
import operator
import os
import random
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ddu.analyze import analysis_of
from ddu.api import analyze, open_run
from ddu.campaign.load import load_campaign
from ddu.cli.main import app
from ddu.compare.load import load_runs
from ddu.console.problems import RefusedError
from ddu.errors import UnreadableInput, WriteFailed
from ddu.run import manifest
from ddu.run.durable import temporary_folder
from ddu.run.integrity import described, is_intact, regular_files, sealed
from ddu.run.manifest import read_content, read_manifest, write_json, write_manifest
from ddu.store.contents import contents_of
from ddu.tables.results import is_whole, read_summary, read_table
from testsupport.synthetic_run import steady

MS = 1_000_000
RESULTS = ("summary.json", "tables")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with the digests of its raw data, and the results of an analysis."""
    run = steady().write(tmp_path_factory.mktemp("recorded") / "run")
    write_manifest(run, read_content(run), described(run, regular_files(run / "raw")))
    analyze(run, report=False)
    return run


@pytest.fixture
def run(recorded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(recorded, tmp_path / "run"))


@pytest.fixture
def mixture(run: Path, tmp_path: Path) -> Path:
    """The run with the summary of one analysis and the tables of another."""
    shutil.copytree(run / "tables", tmp_path / "earlier")
    analyze(run, 50 * MS, report=False)
    shutil.rmtree(run / "tables")
    (tmp_path / "earlier").rename(run / "tables")
    return run


def verified(*paths: Path) -> tuple[int, list[dict[str, Any]]]:
    """Return the exit code of `ddu verify --json`, and what it says of each run."""
    said = CliRunner().invoke(app, ["verify", "--json", *map(str, paths)])
    return said.exit_code, json.loads(said.stdout)["checked"]


def flip(file: Path) -> None:
    """Change one bit in the middle of a file."""
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def _compare(run: Path) -> object:
    return load_runs([run, shutil.copytree(run, run.parent / "other")], "run")


def _run_command(name: str, run: Path) -> object:
    said = CliRunner().invoke(app, [name, str(run)], catch_exceptions=False)
    return said.exception and (_ for _ in ()).throw(said.exception)


def _export(run: Path) -> object:
    return _run_command("export", run)


READERS: dict[str, Callable[[Path], object]] = {
    "ddu.api": lambda run: open_run(run).aligned,
    "compare": _compare,
    "export": _export,
    "publish": contents_of,
    "figures of campaigns": lambda run: read_table(run, "aligned", ["t_s"]),
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_a_mixture_of_two_analyses_is_refused(
    mixture: Path, reader: Callable[[Path], object]
) -> None:
    with pytest.raises(UnreadableInput) as refused:
        reader(mixture)
    assert "tables/aligned.parquet: has another SHA-256: summary.json is of another" in str(
        refused.value
    )
    assert f"Run `ddu analyze {mixture}`" in str(refused.value).replace("/other", "/run")
    assert not is_whole(mixture)
    analyze(mixture, report=False)
    assert is_whole(mixture)


def _campaign_report(run: Path) -> object:
    """Return the summaries of a campaign whose one run this is."""
    campaign = _campaign(run.parent / "campaign", run)
    (cell,) = load_campaign(campaign).cells
    if cell.path is None:
        raise UnreadableInput(run / "run.json", cell.reason)
    return cell


RECORD_READERS: dict[str, Callable[[Path], object]] = {
    **READERS,
    "manifest": read_manifest,
    "summary": read_summary,
    "describe": lambda run: _run_command("describe", run),
    "campaign report": _campaign_report,
}


@pytest.mark.parametrize("reader", RECORD_READERS.values(), ids=RECORD_READERS)
def test_a_manifest_that_was_changed_is_refused(
    run: Path, reader: Callable[[Path], object]
) -> None:
    """Its congestion control, for example, is the name of a line in a figure."""
    file = run / "run.json"
    content = json.loads(file.read_text())
    content["experiment"]["cc"] = "reminis"
    file.write_text(json.dumps(content))
    with pytest.raises(UnreadableInput, match=r"run\.json: was changed after it was written"):
        reader(run)


@pytest.fixture(scope="module")
def another(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another run, which is analysed."""
    run = steady(12).write(tmp_path_factory.mktemp("another") / "run")
    write_manifest(run, read_content(run), described(run, regular_files(run / "raw")))
    analyze(run, report=False)
    return run


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_the_results_of_another_run_are_refused(
    run: Path, another: Path, reader: Callable[[Path], object]
) -> None:
    for name in RESULTS:
        (shutil.rmtree if (run / name).is_dir() else os.unlink)(run / name)
        copy = shutil.copytree if (another / name).is_dir() else shutil.copy
        copy(another / name, run / name)
    with pytest.raises(UnreadableInput, match=r"summary\.json: is of another run.*`ddu analyze "):
        reader(run)
    assert not is_whole(run)
    code, (broken,) = verified(run)
    assert (code, broken["outcome"]) == (1, "broken")
    assert [one["rule"] for one in broken["problems"]] == ["is of another run"]
    analyze(run, report=False)
    assert verified(run)[0] == 0


def test_results_that_name_no_run_are_read(run: Path) -> None:
    """An earlier version names none."""
    file = run / "summary.json"
    summary = json.loads(file.read_text())
    assert summary["integrity"].pop("raw_sha256")
    write_json(file, sealed(summary))
    assert "raw_sha256" not in json.loads(file.read_text())["integrity"]
    assert open_run(run).summary["verdict"]
    assert verified(run)[0] == 0


def _resealed(run: Path, change: Callable[[dict[str, Any]], object]) -> None:
    summary = json.loads((run / "summary.json").read_text())
    change(summary)
    write_json(run / "summary.json", summary)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda one: one.pop("flows"), "flows: Field required"),
        (lambda one: one.update(flows="x"), "flows: Input should be a valid list"),
        (lambda one: one["flows"][0].update(id=None), "flows.0.id: Input should be a valid string"),
        (lambda one: one.update(bin_ms=1e-6), "bin_ms: Input should be greater than or equal to 1"),
        (lambda one: one.update(verdict="good"), "verdict: Input should be 'valid'"),
        (lambda one: one.update(rtt_ms={"mean": "x"}), "rtt_ms must be numbers named mean"),
        (lambda one: one.update(throughput_bps=float("nan")), "throughput_bps must be a number"),
        (lambda one: one.update(changes=[{"t_s": 1}]), "changes.0.change: Field required"),
    ],
)
def test_a_sealed_summary_of_another_form_is_refused(
    run: Path, change: Callable[[dict[str, Any]], object], said: str
) -> None:
    """Whoever wrote it gave it a right digest."""
    _resealed(run, change)
    for reader in (read_summary, contents_of, _compare):
        with pytest.raises(UnreadableInput) as refused:
            reader(run)
        assert f"summary.json: {said}" in str(refused.value)
        assert "un `ddu analyze" in str(refused.value)
    code, (broken,) = verified(run)
    assert (code, broken["outcome"]) == (1, "broken")


def test_whatever_a_sealed_summary_holds_is_read_or_refused(run: Path) -> None:
    """A sample of 200 of all keys, each with values of other types and sizes."""
    file = run / "summary.json"
    whole = json.loads(file.read_text())
    values = (None, True, "x", -1, 1e300, 10**400, float("nan"), [], {}, [[0]], {"a": "x"})
    changes = [(key, value) for key in _keys(whole) for value in values]
    for key, value in random.Random(1).sample(changes, 200):
        changed = copy.deepcopy(whole)
        functools.reduce(operator.getitem, key[:-1], changed)[key[-1]] = value
        file.write_text(json.dumps(sealed(changed)))
        with suppress(RefusedError):
            contents_of(run)
            str(open_run(run))


def _keys(value: Any, outer: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path to each value in a record."""
    of = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in of:
        yield (*outer, key)
        if isinstance(inner, (dict, list)):
            yield from _keys(inner, (*outer, key))


def test_a_table_of_an_earlier_analysis_is_refused(run: Path) -> None:
    shutil.copy(run / "tables/flows.parquet", run / "tables/mac.parquet")
    with pytest.raises(UnreadableInput, match=r"mac\.parquet: is of another analysis"):
        open_run(run).table("mac")
    assert verified(run)[0] == 1


@pytest.mark.parametrize(
    "name",
    ["run.json", "summary.json", "raw/sender.pcap", "raw/receiver.pcap", "tables/flows.csv"],
)
def test_one_bit_of_any_file_is_noticed(run: Path, name: str) -> None:
    assert verified(run) == (0, [{"path": str(run), "outcome": "whole", "problems": [],
                                  "remarks": [], "files_count": 10}])  # fmt: skip
    flip(run / name)
    code, (broken,) = verified(run)
    assert (code, broken["outcome"]) == (1, "broken")
    assert {one["where"]["file"] for one in broken["problems"]} == {str(run / name)}


def test_a_missing_file_is_noticed(run: Path) -> None:
    (run / "raw/receiver.pcap").unlink()
    _, (broken,) = verified(run)
    assert [one["rule"] for one in broken["problems"]] == ["is missing"]


def test_the_analysis_of_changed_raw_data_is_refused(run: Path) -> None:
    before = (run / "summary.json").read_bytes()
    flip(run / "raw/sender.pcap")
    with pytest.raises(UnreadableInput, match=r"sender\.pcap: has another SHA-256.*`ccu rerun "):
        analyze(run)
    assert (run / "summary.json").read_bytes() == before


def test_the_analysis_of_a_changed_manifest_is_refused(run: Path) -> None:
    """Another clock offset, for example, would give other delays, and nothing would show it."""
    before = (run / "summary.json").read_bytes()
    file = run / "run.json"
    written = read_content(run)
    file.write_text(json.dumps(written | {"time": {"offset_ns": 5 * MS}}))
    rule = r"run\.json: was changed after it was written\. Restore it from a copy"
    with pytest.raises(UnreadableInput, match=rule):
        analyze(run)
    assert (run / "summary.json").read_bytes() == before
    # Another form of the same content is no change, and neither is what a program of ours writes.
    file.write_text(json.dumps(written, sort_keys=True))
    analyze(run, report=False)
    write_manifest(run, written | {"time": {"offset_ns": 5 * MS}})
    analyze(run, report=False)


def test_the_manifest_whose_digest_is_compared_is_the_one_analysed(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program may write run.json at any time."""
    file = run / "run.json"
    intact, read = file.read_text(), manifest.read_json

    def read_before_it_is_restored(name: Path) -> Any:
        content = read(name)
        file.write_text(intact)
        return content

    monkeypatch.setattr(manifest, "read_json", read_before_it_is_restored)
    changed = json.dumps(json.loads(intact) | {"time": {"offset_ns": 5 * MS}})
    file.write_text(changed)
    with pytest.raises(UnreadableInput, match=r"run\.json: was changed"):
        analysis_of(run)
    file.write_text(changed)
    assert verified(run)[0] == 1


def test_a_run_that_was_interrupted_says_so_once(tmp_path: Path) -> None:
    why = {"stage": "interrupted", "reason": "interrupted by SIGTERM"}
    run = steady().write(tmp_path / "run", status="interrupted", failure=why)
    _, (checked,) = verified(run)
    assert (checked["outcome"], checked["remarks"][0]) == ("unfinished", "interrupted by SIGTERM")


def test_a_run_without_digests_is_neither_whole_nor_broken(tmp_path: Path) -> None:
    old = steady().write(tmp_path / "old")
    analyze(old, report=False)
    (tmp_path / "failed").mkdir()
    failed = steady().write(tmp_path / "failed/run", status="failed", failure={"reason": "why"})
    code, checked = verified(old, failed)
    assert code == 3
    assert [one["outcome"] for one in checked] == ["unknown", "unfinished"]
    assert "no digests" in checked[0]["remarks"][0]
    assert CliRunner().invoke(app, ["verify", str(tmp_path / "nowhere")]).exception


def test_a_campaigns_records_are_verified(run: Path, tmp_path: Path) -> None:
    campaign = _campaign(tmp_path / "campaign", run)
    code, checked = verified(campaign)
    assert (code, [one["outcome"] for one in checked]) == (0, ["whole", "whole"])
    flip(next(campaign.glob("runs/*/cell.json")))
    assert verified(campaign)[0] == 1


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("campaign.json", lambda record: record["campaign"].update(title="Another")),
        ("cell.json", lambda record: record.update(seed=2)),
    ],
)
def test_a_campaign_whose_record_was_changed_is_refused(
    run: Path, tmp_path: Path, name: str, change: Callable[[dict[str, Any]], object]
) -> None:
    campaign = _campaign(tmp_path / "campaign", run)
    (file,) = campaign.rglob(name)
    record = json.loads(file.read_text())
    change(record)
    file.write_text(json.dumps(record))
    with pytest.raises(RefusedError, match=rf"{name}: was changed after it was written"):
        load_campaign(campaign)
    with pytest.raises(RefusedError, match=rf"{name}: was changed after it was written"):
        contents_of(next(campaign.glob("runs/*/run")))


def _campaign(folder: Path, run: Path) -> Path:
    """Make the directory of a campaign with one run."""
    cell = folder / "runs/cc=cubic,seed=1"
    cell.mkdir(parents=True)
    shutil.copytree(run, cell / "run")
    about = {"name": "one", "profile": "full", "title": "One", "base": {}}
    about["factors"] = {"cc": {"cubic": {"cc": "cubic"}}}
    write_json(folder / "campaign.json", {"schema_version": 1, "campaign": about})
    write_json(cell / "cell.json", {"levels": {"cc": "cubic"}, "repeat": 0, "seed": 1})
    return folder


def test_a_record_is_sealed_whatever_the_order_of_its_keys() -> None:
    record = sealed({"b": 1.5, "a": {"d": [1, None], "c": float("nan")}})
    again = json.loads(json.dumps(record, sort_keys=True, indent=7))
    assert is_intact(again) is True
    assert is_intact({**again, "b": 1.25}) is False
    assert is_intact({"b": 1}) is None
    assert is_intact({"integrity": None, "b": 1}) is None


def killed_at(number: int, work: Callable[[], object]) -> bool:
    """Do `work` in a process that is killed at its `number`-th rename; return whether it was."""
    pid = os.fork()
    if pid == 0:
        left = number

        def counted(rename: Callable[..., None]) -> Callable[..., None]:
            def or_killed(*args: Any, **named: Any) -> None:
                nonlocal left
                left -= 1
                if left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                rename(*args, **named)

            return or_killed

        os.rename, os.replace = counted(os.rename), counted(os.replace)
        work()
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(pid, 0)[1])


def test_an_analysis_killed_at_any_rename_leaves_a_whole_run(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_fifty_ms = analysis_of(run, 50 * MS)
    monkeypatch.setattr("ddu.api.analysis_of", lambda *_: of_fifty_ms)
    number = 0
    while killed_at(number, lambda: analyze(run, 50 * MS, report=False)):
        assert verified(run)[0] == 0, f"killed at rename {number}"
        assert len(open_run(run).aligned)  # It is analysed again if it has no results.
        number += 1
    assert number >= len(RESULTS)
    assert not list(run.glob(".analysis-*")), "the last analysis removes what killed ones left"


def test_a_full_disk_leaves_the_earlier_results(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {name: (run / name).read_bytes() for name in ("summary.json", "tables/flows.csv")}

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WriteFailed, match=r"No space left on device.* Free some space") as failed:
        analyze(run, 50 * MS, report=False)
    assert failed.value.exit_code == 1
    assert {name: (run / name).read_bytes() for name in before} == before
    assert {one.name for one in run.iterdir()} == {"run.json", "raw", *RESULTS}


def test_a_living_analysis_is_not_swept(tmp_path: Path) -> None:
    left = tmp_path / ".analysis-left"
    left.mkdir()
    with temporary_folder(tmp_path, ".analysis-") as first:
        assert not left.exists()
        with temporary_folder(tmp_path, ".analysis-") as second:
            assert first.exists()
            assert second != first
    assert list(tmp_path.iterdir()) == []


def test_an_unwritable_run_says_so(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_args: object, **_named: object) -> str:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("tempfile.mkdtemp", forbidden)
    with pytest.raises(RefusedError, match="Run it as the owner or with sudo") as refused:
        analyze(run)
    assert refused.value.exit_code == 2


def test_a_run_that_is_being_made_is_not_one(run: Path, tmp_path: Path) -> None:
    """A killed import leaves one, until the next import removes it."""
    shutil.copytree(run, tmp_path / ".import-killed")
    assert [one["path"] for one in verified(tmp_path)[1]] == [str(run)]
    with pytest.raises(RefusedError, match="1 run given"):
        load_runs([tmp_path], "run")
