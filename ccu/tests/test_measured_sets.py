# SPDX-License-Identifier: Apache-2.0
"""Sets of measured traces: what seeds and names draw, refused data sets, traces that are absent."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ccu.campaigns import definition, runner
from ccu.campaigns.cells import cells
from ccu.cli.main import app
from ccu.runs import run as runs
from ccu.scenarios import dataset, locate, sets
from ccu.scenarios.sources import csv_table
from ddu.console.problems import RefusedError

ABOUT = dataset.About(("Somebody, somewhere, 2026.",), "CC-BY-4.0", "example.org/traces")
FORMS = {
    "a.csv": "Time (s), Throughput (Mbps)\n1, 80\n2, 0\n",
    "b.txt": "1.0\t40\n2.0\t50\n",
    "c": "  1   20\n  2   30\n",
}


def traces(tmp_path: Path, texts: dict[str, str]) -> Path:
    folder = tmp_path / "traces"
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text)
    return folder


def made(tmp_path: Path, texts: dict[str, str] = FORMS, form: str = "seconds-mbps") -> Path:
    dataset.make(form, traces(tmp_path, texts), "*", ABOUT, tmp_path / "mine")
    return tmp_path / "mine"


def test_each_seed_draws_a_trace_and_n_seeds_draw_each_once(tmp_path: Path) -> None:
    mine = made(tmp_path)
    drawn = [locate(str(mine), seed).stem for seed in range(1, 7)]
    assert drawn[:3] == list(sets.index(mine).traces) == drawn[3:]
    assert set(drawn) == {"a", "b", "c"}
    assert locate(f"{mine}-02").stem == drawn[1]
    assert locate(f"{mine}/b").stem == "b"
    assert locate(f"{mine}/b.yaml") == locate(f"{mine}/b")
    with pytest.raises(RefusedError, match=r"trace of mine .*'?bb"):
        locate(f"{mine}/bb")


def test_every_form_of_a_table_has_its_rates(tmp_path: Path) -> None:
    mine = made(tmp_path)
    assert (mine / "a-dl.csv").read_text() == "t_s,mbps\n0,80\n1,0\n"
    assert (mine / "b-dl.csv").read_text() == "t_s,mbps\n0,40\n1,50\n"
    assert (mine / "c-dl.csv").read_text() == "t_s,mbps\n0,20\n1,30\n"


def test_repeats_of_a_campaign_run_over_different_traces(tmp_path: Path) -> None:
    mine, file = made(tmp_path), tmp_path / "try.yaml"
    file.write_text(f"title: x\nbase: {{scenario: {mine}}}\nfactors: {{cc: [cubic]}}\nrepeats: 3\n")
    played = [runs.scenario_of(one.experiment).stem for one in cells(definition.read(file))]
    assert played == list(sets.index(mine).traces)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 80\n2 80\n5 80\n6 80\n7 9\n", ":3: no sample for 3 s, where they are 1 s apart"),
        ("# a\ns rate\n1 80\n2 -80\n", ":4: -80 is not between 0 and"),
        ("1;80\n2;80\n", ":1: '1;80' is not two numbers"),
        ("1 80 3\n2 80 3\n", ":1: 3 columns in place of 2"),
        ("1 80\n1 81\n", ":2: timestamp 1 s comes after 1 s"),
    ],
)
def test_a_wrong_trace_is_one_error_and_nothing_is_written(
    tmp_path: Path, text: str, expected: str
) -> None:
    with pytest.raises(RefusedError) as refused:
        made(tmp_path, {**FORMS, "bad.txt": text})
    assert len(refused.value.problems) == 1
    assert f"{tmp_path}/traces/bad.txt{expected}" in str(refused.value)
    assert [one.name for one in tmp_path.iterdir()] == ["traces"]


def test_traces_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match=r"has the same name as b.1\.txt: b-1. Rename one"):
        made(tmp_path, {"b 1.txt": "0 5\n1 5\n", "b-1.txt": "0 6\n1 6\n"})


def test_a_set_without_a_licence_is_refused(tmp_path: Path) -> None:
    folder = traces(tmp_path, FORMS)
    words = ["--name", "mine", "--source", "x", "--get", "y", "--output", str(tmp_path)]
    ran = CliRunner().invoke(app, ["scenario", "dataset", "seconds-mbps", str(folder), *words])
    assert str(ran.exception).startswith("--license: is missing")
    assert not (tmp_path / "mine").exists()
    words[words.index("--source") : words.index("--source") + 2] = ["--license", "CC0-1.0"]
    ran = CliRunner().invoke(app, ["scenario", "dataset", "seconds-mbps", str(folder), *words])
    assert str(ran.exception).endswith("Write who measured the traces, where and when")


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A set that the project knows, without its traces; they are in `traces`."""
    folder = tmp_path / "traces"
    folder.mkdir()
    for name in ("x", "y"):
        (folder / f"{name}.xz").write_bytes(lzma.compress(b"0\n500\n1000\n"))
    (folder / "y.xz").write_bytes(lzma.compress(b"0\n250\n1000\n"))
    monkeypatch.setattr(sets, "MEASURED", tmp_path / "measured")
    dataset.make("mahimahi", folder, "*", ABOUT, tmp_path / "measured" / "town")
    for made_file in (tmp_path / "measured" / "town").iterdir():
        if made_file.name != sets.INDEX:
            made_file.unlink()
    return folder


def test_a_campaign_says_where_absent_traces_are_and_runs_the_rest(
    tmp_path: Path, known: Path
) -> None:
    file = tmp_path / "try.yaml"
    text = "title: x\nfactors: {cc: [cubic], scenario: [static, town]}\nrepeats: 2\n"
    file.write_text(text)
    campaign = definition.read(file)
    lacking = {
        dict(one.point)["scenario"]: runner.lacking(one.of_point, {"cubic"})
        for one in cells(campaign)
    }
    assert lacking == {"static": set(), "town": {"town"}}
    [sentence] = runner.left_out_sentences({"town": 2})
    assert "left out: 2 runs of town" in sentence
    assert "example.org/traces" in sentence
    assert "ccu scenario dataset town FOLDER" in sentence
    with pytest.raises(RefusedError, match=r"example\.org/traces"):
        locate("town")
    dataset.fill("town", known)
    assert not sets.is_absent("town")
    assert locate("town/x").name == "x.yaml"


@pytest.mark.usefixtures("known")
def test_a_plan_of_a_campaign_of_which_nothing_can_run_says_where_the_traces_are(
    tmp_path: Path,
) -> None:
    files = {"absent": "town", "there": "static"}
    for name, scenario in files.items():
        text = f"base: {{testbed: virtual}}\nfactors: {{cc: [cubic], scenario: [{scenario}]}}\n"
        (tmp_path / f"{name}.yaml").write_text(f"title: x\n{text}repeats: 2\n")
    words = ["campaign", "plan", "--output", str(tmp_path), str(tmp_path / "absent.yaml")]
    ran = CliRunner().invoke(app, words)
    assert isinstance(ran.exception, RefusedError)
    assert str(ran.exception) == (
        "nothing can run: no machine here has the traces of town. Get them (example.org/traces), "
        "then: ccu scenario dataset town FOLDER"
    )
    ran = CliRunner().invoke(app, [*words, str(tmp_path / "there.yaml")])
    assert ran.exit_code == 0, ran.output
    rows = [line.split() for line in ran.output.splitlines()]
    assert next(row for row in rows if row[0] == "absent")[2:5] == ["0", "0", "2"]
    assert next(row for row in rows if row[0] == "there")[2:5] == ["2", "0", "0"]
    assert "left out: 2 runs of town, whose traces are not on this machine" in ran.output


def test_a_trace_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_table, "LARGEST_BYTES", 3 << 20)
    packed = traces(tmp_path, FORMS) / "bomb.txt.xz"
    packed.write_bytes(lzma.compress(b"1 80\n" * (1 << 20), preset=0))
    with pytest.raises(RefusedError, match=r"bomb\.txt\.xz: unpacks to more than 3145728 bytes"):
        dataset.make("seconds-mbps", packed.parent, "*", ABOUT, tmp_path / "mine")
    assert [one.name for one in tmp_path.iterdir()] == ["traces"]


@pytest.mark.parametrize("cut", [slice(0, -20), slice(0, 10), slice(40, None)])
def test_a_packed_trace_that_is_damaged_is_refused(tmp_path: Path, cut: slice) -> None:
    packed = traces(tmp_path, FORMS) / "bad.txt.xz"
    packed.write_bytes(lzma.compress(b"1 80\n2 80\n")[cut])
    with pytest.raises(RefusedError, match=r"bad\.txt\.xz: is not xz"):
        dataset.make("seconds-mbps", packed.parent, "*", ABOUT, tmp_path / "mine")


def test_a_trace_that_is_not_the_published_one_is_refused(known: Path) -> None:
    (known / "x.xz").unlink()
    (known / "y.xz").write_bytes(lzma.compress(b"0\n251\n1000\n"))
    with pytest.raises(RefusedError) as refused:
        dataset.fill("town", known)
    assert [one.rule for one in refused.value.problems] == [
        "no trace x of town",
        "is not the published trace: its SHA-256 differs",
    ]
    assert sets.is_absent("town")
