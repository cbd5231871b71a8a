# SPDX-License-Identifier: Apache-2.0
"""The export of scenarios for other tools."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccu.scenarios.exports import FORMATS
from ccu.scenarios.exports.mahimahi import stamps_ms
from ccu.scenarios.oai_channel_model import setting
from ccu.scenarios.play import experiment, play
from ccu.scenarios.show import draw, present
from ccu.scenarios.sources import FORMATS as SOURCES
from ccu.scenarios.sources import ImportOptions
from ccu.scenarios.statistics import drops, link_statistics
from ccu.scenarios.write import write
from ddu.console.problems import RefusedError


def test_an_exported_mahimahi_trace_has_the_same_opportunities(tmp_path: Path) -> None:
    stamps = np.sort(np.random.default_rng(5).integers(0, 3000, 700))
    file = tmp_path / "a.txt"
    np.savetxt(file, stamps, fmt="%d")
    write(SOURCES["mahimahi"].read(file, ImportOptions("x", ul=file)), "x", "CC0-1.0", tmp_path)
    planned = experiment(str(tmp_path / "x.yaml"), {})
    written = FORMATS["mahimahi"].write(planned, 3.0, tmp_path / "again")
    assert [path.name for path in written] == ["again.down", "again.up"]
    for path in written:
        assert np.array_equal(np.loadtxt(path, dtype=int), stamps)


@given(st.lists(st.floats(min_value=0, max_value=5000), min_size=1, max_size=300))
def test_opportunities_are_not_early_and_do_not_exceed_the_rates(rates: list[float]) -> None:
    stamps = stamps_ms(np.array(rates))
    given = np.cumsum(rates) * 1e3 / 8
    for ms in range(1, len(rates) + 1):
        taken = 1504 * np.count_nonzero(stamps <= ms)
        assert taken <= given[ms - 1] + 0.01
        assert taken > given[ms - 1] - 1504 - 0.01


def test_rates_become_opportunities_and_rates_again(tmp_path: Path) -> None:
    planned = experiment("surge-100M-720M", {})
    down, _ = FORMATS["mahimahi"].write(planned, 12.0, tmp_path / "x")
    imported = SOURCES["mahimahi"].read(down, ImportOptions("y"))
    write(imported, "y", "CC0-1.0", tmp_path)
    before = play(planned, 10)["dl_capacity_mbps"].to_numpy()
    after = play(experiment(str(tmp_path / "y.yaml"), {}), 10)["dl_capacity_mbps"].to_numpy()
    # Each opportunity has 4 bytes of header, which are not part of the IP packet.
    assert after.mean() == pytest.approx(before.mean() * 1500 / 1504, rel=0.01)


def test_a_street_is_exported_with_its_positions(tmp_path: Path) -> None:
    (file,) = FORMATS["csv"].write(experiment("urban-mmwave", {}), 60.0, tmp_path / "street")
    rows = pd.read_csv(file)
    assert len(rows) == 3000
    assert not rows.isna().any().any()
    assert (rows["path_loss_db"] + rows["rsrp_dbm"] + 9.2).abs().max() < 1e-6
    still = rows[rows["t_s"] < 1]
    assert set(still["x_m"]) == {-50.0}
    assert rows["x_m"].iloc[-1] == -716


def test_a_schedule_for_rfsim_changes_what_changed(tmp_path: Path) -> None:
    (file,) = FORMATS["oai"].write(experiment("rome-moderate", {}), 20.0, tmp_path / "rome")
    lines = [line.split() for line in file.read_text().splitlines() if not line.startswith("#")]
    assert lines[0][0] == "0.000"
    stamps = [float(line[0]) for line in lines]
    assert stamps == sorted(stamps)
    assert max(np.bincount(np.floor(stamps).astype(int))) <= 10  # what telnet carries a second
    for _, *command in lines:
        assert command[:3] == ["channelmod", "modify", "0"]
        assert command[3] in ("ploss", "noise_power_dB")
    with pytest.raises(RefusedError, match="has no radio"):
        FORMATS["oai"].write(experiment("constant-100M", {}), 20.0, tmp_path / "x")


def test_a_stronger_signal_is_a_higher_gain_and_a_worse_sinr_more_noise() -> None:
    near, far = setting(-50, 20), setting(-60, 20)
    assert near.ploss_db - far.ploss_db == 10
    # 2 dB a step, rounded to a tenth of one.
    step = setting(-64, 30).noise_db - setting(-64, 20).noise_db
    assert step == pytest.approx(-5, abs=0.11)
    assert setting(-30, 20).ploss_db == 20  # RSRP saturates


def test_the_same_number_is_the_same_link_whatever_the_runs_seed() -> None:
    one = play(experiment("mmwave-walking-07", {"seed": 1}), 50)
    again = play(experiment("mmwave-walking-07", {"seed": 2}), 50)
    other = play(experiment("mmwave-walking-08", {"seed": 1}), 50)
    assert one.equals(again)
    assert not one.equals(other)


def test_a_figure_has_only_panels_with_values(tmp_path: Path) -> None:
    seen = play(experiment("cell-edge", {}), 10)
    assert list(present(seen))[:2] == ["rsrp_dbm", "sinr_db"]
    assert "rsrp_dbm" not in present(play(experiment("lan", {}), 1))
    draw(seen, tmp_path / "x.svg", "cell-edge")
    text = (tmp_path / "x.svg").read_text()
    assert "RSRP, dBm" in text
    assert "capacity DL, Mbit/s" in text


def test_drops_are_counted_once_each() -> None:
    rates = np.array([900, 900, 400, 100, 50, 600, 300, 260, 240, 240, 240, 800, 100], dtype=float)
    # 900 to 100 in 2 s; 600 to 240 in 3 s; 800 to 100 in 1 s.
    assert drops(rates) == 3
    statistics = link_statistics(np.tile(rates, 10))
    assert statistics.max_mbps == 900
    assert statistics.dead_ratio == 0
