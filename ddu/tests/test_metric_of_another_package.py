# SPDX-License-Identifier: Apache-2.0
"""A metric in one file of another package is in tables, summary, report, store, schema and docs."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pandas as pd
import pytest

from ddu.store.connect import connected
from ddu.tables.documentation import documented
from testsupport.example_package import ddu, install, python
from testsupport.store_runs import two_flows
from testsupport.store_server import fresh_store
from testsupport.synthetic_run import MS, T0

METRICS_MD = Path(__file__).parents[2] / "docs" / "metrics.md"
COLUMN, NUMBER = "tcp_sending_pause_ms", "sending_pause_ms"


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    entry_point = "ddu.metrics: pause = sending_pause:METRICS"
    return install(tmp_path / "packages", "sending_pause", entry_point)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Flow 0 sends every ms, flow 1 every 2 ms."""
    return two_flows().write(tmp_path / "run")


def test_one_file_adds_a_metric_everywhere(packages: Path, run: Path, tmp_path: Path) -> None:
    ended = ddu(packages, "analyze", run)
    assert ended.returncode == 0, ended.stderr
    parquet = pd.read_parquet(run / "tables" / "aligned.parquet")
    assert parquet.groupby("flow")[COLUMN].median().to_dict() == {"f0": 1.0, "f1": 2.0}
    with (run / "tables" / "transport.csv").open() as file:
        written = {row[COLUMN] for row in csv.DictReader(file)}
    assert {"1", "2"} <= written
    summary = json.loads((run / "summary.json").read_text())
    assert [flow[NUMBER] for flow in summary["flows"]] == [1.0, 2.0]
    page = (run / "report.html").read_text()
    assert "<b>Sending pause" in page.replace("\\u003c", "<"), "no panel"
    assert "<td>Sending pause</td>" in page, "no row in the table of flows"
    assert ">Sending pause<" in (run / "figures" / "timeline.svg").read_text()
    assert f"{COLUMN} [ms]: longest time" in ddu(packages, "schema", "transport").stdout
    document = tmp_path / "metrics.md"
    document.write_text(METRICS_MD.read_text())
    made = python(packages, "-m", "ddu.tables.documentation", document)
    assert made.returncode == 0, made.stderr
    assert f"| `{COLUMN}` | ms | S | 2 |" in document.read_text()
    assert f"| `{NUMBER}` | ms | flow | S |" in document.read_text()


def test_it_may_use_the_columns_of_other_sources(packages: Path, run: Path) -> None:
    with (packages / "sending_pause.py").open("a") as example:
        example.write(
            "METRICS += (BinMetric('zone_ratio', 'zone over 4', needs=(Need.CC_TRACE,), "
            "compute=lambda at: at.aligned['cc_zone'] / 4), "
            "BinMetric('phone_ratio', 'no source here', needs=(Need.MAC,), "
            "compute=lambda at: at.aligned['mac_nothing']))\n"
        )
    write_trace(run)
    ended = ddu(packages, "analyze", "--no-report", run)
    assert ended.returncode == 0, ended.stderr
    aligned = pd.read_parquet(run / "tables" / "aligned.parquet")
    assert aligned.groupby("flow")["zone_ratio"].max().dropna().to_dict() == {"f1": 0.75}
    assert "phone_ratio" not in aligned


def write_trace(run: Path) -> None:
    """Add a trace of flow 1's congestion control, in zone 3 throughout."""
    manifest = json.loads((run / "run.json").read_text())
    rows = (f"{T0 + index * 20 * MS},40002,5202,3\n" for index in range(10))
    (run / "raw" / "cc-reminis.csv").write_text("utc_ns,sport,dport,zone\n" + "".join(rows))
    manifest["cc_trace"] = {"cc": "reminis", "file": "raw/cc-reminis.csv"}
    (run / "run.json").write_text(json.dumps(manifest))


def test_campaigns_may_ask_for_it(packages: Path, tmp_path: Path) -> None:
    asked = "from ddu.campaign.checks import problems_of; from ddu.campaign.definition import *; "
    asked += "campaign = dict(name='x', title='x', factors={'cc': ['cubic']}, "
    asked += f"report={{'metrics': ['flow.{NUMBER}']}}); "
    asked += "print(problems_of(Campaign.model_validate(campaign)))"
    assert python(packages, "-c", asked).stdout == "[]\n"
    assert "no metric" in python(tmp_path, "-c", asked).stdout


def test_an_older_store_gets_its_columns(packages: Path, run: Path, tmp_path: Path) -> None:
    with fresh_store() as place:
        ended = ddu(packages, "publish", run, "--store", place.url())
        assert ended.returncode == 0, ended.stderr
        with connected(place.url()) as connection:
            longest = connection.execute(
                f"SELECT flow_id, max({COLUMN}) FROM testbed.transport_sample "
                "GROUP BY flow_id ORDER BY flow_id"
            ).fetchall()
            of_flows = connection.execute(
                f"SELECT {NUMBER} FROM testbed.flow ORDER BY flow_id"
            ).fetchall()
    assert longest == [(0, 1.0), (1, 2.0)]
    assert of_flows == [(1.0,), (2.0,)]


def test_a_package_that_cannot_be_loaded_is_named(packages: Path, run: Path) -> None:
    (packages / "sending_pause.py").write_text("1 / 0\n")
    ended = ddu(packages, "analyze", "--no-report", run)
    assert "ddu.metrics pause (sending_pause:METRICS) of the package sending_pause" in ended.stderr
    assert ended.returncode == 0, "the rest works"
    assert COLUMN not in pd.read_parquet(run / "tables" / "aligned.parquet")


def test_a_name_that_is_taken_is_refused(packages: Path, run: Path) -> None:
    example = packages / "sending_pause.py"
    example.write_text(example.read_text().replace(f'"{COLUMN}"', '"tcp_rtt_ms"'))
    ended = ddu(packages, "analyze", "--no-report", run)
    assert ended.returncode == 2
    assert "there is a metric 'tcp_rtt_ms' already" in ended.stderr


def test_the_tables_of_the_manual_are_those_of_the_declarations() -> None:
    text = METRICS_MD.read_text()
    write = "run `python -m ddu.tables.documentation docs/metrics.md`"
    assert documented(text) == text, f"docs/metrics.md is not in step; {write}"
