# SPDX-License-Identifier: Apache-2.0
"""The channel on the samples of gNB and UE, in the tables and the report."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from ddu.analyze import analysis_of
from ddu.report.figures import figures
from testsupport.synthetic_run import MS, T0, steady

HEADER = (
    "utc_ns,radio_s,ue,rsrp_dbm,sinr_db,gain_db,noise_db,delay_ns_1,re_1,im_1,delay_ns_2,re_2,im_2"
)
EVERY_NS = 10 * MS


def channel(rows: int, first_ns: int = T0 - 2 * EVERY_NS) -> str:
    """The SINR rises by 1 dB a row; the second path has a tenth of the first's power, then none."""
    lines = [HEADER]
    for n in range(rows):
        second = "30.5,0.3,0.1" if n < rows // 2 else "30.5,0.00000,0.00000"
        utc_ns = first_ns + n * EVERY_NS
        lines.append(
            f"{utc_ns},{n / 100:.4f},0,-80.00,{n:.2f},-16.00,,0.0,0.60000,0.80000,{second}"
        )
    return "\n".join(lines) + "\n"


def analysed(directory: Path, content: str):
    run = steady().write(directory / "run")
    (run / "raw" / "oai").mkdir()
    (run / "raw" / "oai" / "channel.csv").write_text(content)
    return analysis_of(run, bin_ns=20 * MS)


def test_the_channel_is_a_table_and_columns_on_the_run_s_time(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, channel(40))
    table, aligned = analysis.tables["channel"], analysis.tables["aligned"]
    assert len(table) == 40
    assert table["channel_path_1_db"].iloc[0] == pytest.approx(0)
    assert table["channel_path_2_db"].iloc[0] == pytest.approx(10 * math.log10(0.1))
    assert table["channel_path_2_db"].isna().sum() == 20
    assert table["channel_noise_db"].isna().all()
    assert table["channel_delay_2_ns"].iloc[0] == pytest.approx(30.5)
    # A row describes the time since the one before: the first bin of 20 ms has rows 3 and 4.
    assert aligned["channel_sinr_db"].iloc[0] == pytest.approx(3.5)
    assert aligned["channel_rsrp_dbm"].iloc[0] == pytest.approx(-80)
    assert "channel_re_1" not in aligned
    alignment = analysis.summary["alignment"]["channel"]
    assert (alignment["source"], alignment["uncertainty_ns"]) == ("the radio", 0)
    assert analysis.summary["verdict"] == "valid"


def test_the_report_draws_level_and_paths(tmp_path: Path) -> None:
    tables = analysed(tmp_path, channel(40)).tables
    drawn = figures(tables, "dl")
    assert [line.name for line in drawn["channel-paths"].plots[0].series] == ["path 1", "path 2"]
    titles = [plot.title for plot in drawn["timeline"].plots]
    assert {"RSRP of the channel", "SINR of the channel"} <= set(titles)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (channel(5)[:-20], "channel.csv is cut off at byte"),
        (channel(5).replace("im_2", "other"), "delay_ns_2 without im_2"),
        (channel(5).replace("sinr_db", "sinr"), "no column sinr_db"),
    ],
)
def test_a_spoilt_file_degrades_and_is_named(tmp_path: Path, content: str, said: str) -> None:
    summary = analysed(tmp_path, content).summary
    assert summary["verdict"] == "degraded"
    assert said in " ".join(summary["verdict_reasons"])
