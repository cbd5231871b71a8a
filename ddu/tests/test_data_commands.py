# SPDX-License-Identifier: Apache-2.0
"""`ddu export`, `describe` and `schema`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from ddu.analyze import analysis_of
from ddu.api import analyze, open_run
from ddu.cli.data import _TABLE_NAMES
from ddu.cli.main import app, main
from ddu.describe import describe as tell
from ddu.tables.columns import TABLES, column, columns_of
from testsupport.foreign_logs import full_run
from testsupport.oai_samples import SAMPLES


@pytest.fixture(scope="module")
def analysed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = full_run(tmp_path_factory.mktemp("analysed"))
    analyze(run)
    return run


def ddu(*arguments: str | Path) -> str:
    ended = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert ended.exit_code == 0, f"{ended.output} {ended.exception!r}"
    return ended.stdout


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow", "json"])
def test_every_format_holds_the_table(tmp_path: Path, analysed: Path, suffix: str) -> None:
    run = analysed
    file = tmp_path / f"out.{suffix}"
    ddu("export", run, file)
    aligned = open_run(run).aligned
    read = {
        "csv": lambda: pa.csv.read_csv(file).to_pandas(),
        "parquet": lambda: pq.read_table(file).to_pandas(),
        "arrow": lambda: pa.ipc.open_file(file).read_all().to_pandas(),
        "json": lambda: pd.DataFrame(map(json.loads, file.read_text().splitlines())),
    }[suffix]()
    assert list(read.columns) == list(aligned.columns)
    assert read["utc_ns"].tolist() == aligned["utc_ns"].tolist()
    for name in ("tcp_rtt_ms", "mac_rsrp_dbm", "tcp_cwnd_bytes"):
        pd.testing.assert_series_equal(
            read[name].astype("float64"), aligned[name].astype("float64"), rtol=1e-12
        )


def test_columns_and_times_are_chosen(tmp_path: Path) -> None:
    text = ddu(
        "export", full_run(tmp_path), "--columns", "t_s,flow", "--from", 0.02, "--until", 0.06
    )
    assert text.replace('"', "").splitlines() == ["t_s,flow", "0.02,f0", "0.04,f0"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--columns", "nonsense"], "no column 'nonsense'. There are"),
        (["--format", "xlsx"], "no format 'xlsx'"),
        (["--table", "cc"], "no table cc"),
        (["--from", "nan"], "nan is not a time"),
        (["--from", "9", "--until", "1"], "--from 9 is not before --until 1"),
        (["noending"], "noending: the name has no ending for the format. Use one of .csv"),
        (["/"], "/: is a directory. Name a file in it"),
        (["--table", "alinged"], "no table 'alinged'. Did you mean aligned?"),
    ],
)
def test_what_cannot_be_exported_is_told(
    analysed: Path, arguments: list[str], problem: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr("sys.argv", ["ddu", "export", str(analysed), *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert problem in capsys.readouterr().err


def test_every_column_of_every_table_is_defined(tmp_path: Path) -> None:
    """A column that analysis makes and columns.yaml does not know: add it there."""
    tables = analysis_of(full_run(tmp_path)).tables
    for name, table in tables.items():
        missing = [str(each) for each in table if column(str(each), name) is None]
        assert not missing, f"{name}: {missing} are not in ddu/src/ddu/schema/columns.yaml"


def test_every_column_that_the_manual_defines_is_in_the_schema() -> None:
    text = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text()
    cells = re.findall(r"^\| (`[^|]*?) \|", text, re.MULTILINE)
    names = {name for cell in cells for name in re.findall(r"`([a-z0-9_]+)`", cell)}
    columns = {name for name in names if name.startswith(("tcp_", "udp_", "mac_", "link_"))}
    assert len(columns) > 30
    assert not {name for name in columns if column(name) is None} - {"mac_floor_ms"}


def test_units_follow_from_names() -> None:
    for table in TABLES:
        for each in columns_of(table):
            assert each.definition
            assert each.unit, f"{each.name} has no unit"
            if each.name.endswith("_bps"):
                assert each.unit == "bit/s"
    described = column("mac_dl_lcid_4_bytes", "mac")
    assert described is not None
    assert described.unit == "B"


def test_the_schema_for_programs(analysed: Path) -> None:
    content = json.loads(ddu("schema", "aligned", "--run", analysed, "--json"))
    rows = {row["name"]: row for row in content["tables"]["aligned"]}
    assert rows["mac_rsrp_dbm"]["unit"] == "dBm"
    assert rows["tcp_ssthresh_bytes"]["null_count"] == len(open_run(analysed).aligned)


def test_the_schema_of_a_run_as_text(analysed: Path) -> None:
    lines = ddu("schema", "aligned", "--run", analysed).splitlines()
    rows = len(open_run(analysed).aligned)
    assert any(
        line.startswith(f"  tcp_ssthresh_bytes [B] (float64, nulls: {rows}): ") for line in lines
    )
    assert "nulls" not in ddu("schema", "aligned")


def test_describe_knows_a_table_in_csv(tmp_path: Path) -> None:
    file = tmp_path / "mac.csv"
    table = pa.table({"utc_ns": [10**18, 10**18 + 10**7], "t_s": [0.0, 0.01], "mac_cqi": [9, 9]})
    pyarrow.csv.write_csv(table, file)  # With the names of columns in quotes, as in tables/.
    assert tell(file)["kind"] == "samples (CSV)"


def test_describe_knows_tables_without_a_time(analysed: Path) -> None:
    for name in ("flows", "delay_cdf"):
        table = open_run(analysed).table(name)
        description = tell(analysed / "tables" / f"{name}.csv")
        assert description["kind"] == f"table {name} (CSV)"
        assert (description["rows"], description["columns"]) == (len(table), list(table.columns))


def test_describe_tells_every_kind(analysed: Path) -> None:
    run = analysed
    described = json.loads(ddu("describe", run, "--json"))
    kinds = {Path(file["path"]).name: file["kind"] for file in described["files"]}
    assert kinds == {
        "core.cc": "ss", "link.csv": "samples (CSV)", "mac.csv": "samples (CSV)",
        "radio-events.jsonl": "JSON Lines", "receiver.pcap": "capture", "sender.pcap": "capture",
    }  # fmt: skip
    sender = next(file for file in described["files"] if file["path"].endswith("sender.pcap"))
    assert sender["packets"] == 201
    assert described["results"] == ["tables", "figures", "report.html", "summary.json"]
    table = json.loads(ddu("describe", run / "tables" / "sockets.parquet", "--json"))
    assert "UTC+00:00" in table["alignment"]["method"]


def test_the_help_names_every_table() -> None:
    """It lacked three that are exported."""
    (listed,) = re.findall(r"Table: (.*)\.", _TABLE_NAMES)
    assert re.split(", | or ", listed) == list(TABLES)


def test_describe_knows_the_delays_of_packets(tmp_path: Path) -> None:
    names = ["sent_utc_ns", "received_utc_ns", "entered_utc_ns", "left_utc_ns", "sent_frame",
             "received_frame", "ip_bytes", "seq", "ack", "sport", "dport", "ue", "direction",
             "protocol"]  # fmt: skip
    rows = np.zeros(3, [(name, "<i8") for name in names])
    rows["sent_utc_ns"] = [10**18, 10**18 + 10**9, 10**18 + 2 * 10**9]
    file = tmp_path / "delays.npy"
    np.save(file, rows)
    description = tell(file)
    assert description["kind"] == "delays of packets (numpy array)"
    assert (description["rows"], description["seconds"]) == (3, 2.0)
    assert description["columns"] == names
    np.save(tmp_path / "other.npy", np.zeros(3))
    assert tell(tmp_path / "other.npy")["kind"] == "numpy array"
    file.write_bytes(b"\x93NUMPY and no more")
    assert "not an array of delays" in tell(file)["problem"]


def test_describe_knows_what_a_scenario_is_exported_to(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("t_s,rsrp_dbm,dl_capacity_mbps\n0,-60.5,100\n0.02,-60.25,101\n0.04,-6")
    description = tell(file)
    assert description["kind"] == "scenario over time (CSV)"
    assert (description["rows"], description["seconds"]) == (2, 0.02)
    assert description["truncated_at"] == len(file.read_text().rpartition("\n")[0]) + 1
    file.write_text("t_s,colour\n0,red\n")
    assert tell(file)["kind"] == "unknown format"
    file.write_text("tstamp,rnti,dl_bler\n1795282920000000,17921,0.01\n1795282920100000,17921\n")
    assert "2 fields" in tell(file)["problem"]


def test_describe_does_not_read_what_has_no_end() -> None:
    assert tell(Path("/dev/zero"))["kind"].startswith("not a regular file")


def test_describe_survives_anything(tmp_path: Path) -> None:
    for index, content in enumerate(
        [b"", b"\x00" * 100, bytes(range(256)), b"{", b'{"a": 1}\n{"b": 2}\n', b"a,b\n1,2\n",
         b"\xd4\xc3\xb2\xa1", b"PAR1", b"ARROW1", SAMPLES[0].text.encode()]
    ):  # fmt: skip
        file = tmp_path / f"{index}.bin"
        file.write_bytes(content)
        assert json.loads(ddu("describe", file, "--json"))["kind"]
