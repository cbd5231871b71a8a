# SPDX-License-Identifier: Apache-2.0
"""OAI's logs beside the MAC's: a table each, and columns that the MAC's source does not have."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import pytest

from ddu.align.bins import Bins
from ddu.analyze import Analysis, analysis_of
from ddu.api import analyze
from ddu.describe import describe
from ddu.errors import UnreadableInput
from ddu.importing.run import import_folder
from ddu.readers.oai.o1 import read_o1_log
from ddu.tables.columns import column
from ddu.tables.secondary import numbered, secondary_on_bins
from testsupport.shared_data import shared
from testsupport.synthetic_run import MS, SERVER, T0, UE, SyntheticRun, steady, tcp

EVERY_NS = 25 * MS
COUNT = 6


def stamp(index: int) -> str:
    seconds, rest = divmod(T0 + (index - 1) * EVERY_NS, 1_000_000_000)
    return f"{seconds}.{rest:09d}"


def mac_log() -> str:
    """A gNB of 2024: it knows no SINR."""
    return "".join(
        f"### {stamp(index)}\n"
        "UE RNTI 1a2b CU-UE-ID 1 in-sync PH 51 dB PCMAX 20 dBm, average RSRP -80 (4 meas)\n"
        f"UE 1a2b: LCID 4: TX {7000 + index * 30_000} RX 10 bytes\n"
        for index in range(COUNT)
    )


def l1_log() -> str:
    return "".join(
        f"### {stamp(index)}\n"
        "max_IO = 55 (85), min_I0 = 0 (136), avg_I0 = 44 dB\n"
        "ULSCH RNTI 1a2b, 123: ulsch_power[0] 41,3 ulsch_noise_power[0] 20.5, sync_pos 2\n"
        f"                 round_trials {100 + 10 * index}(1.0e-01):{index}(2.0e-02):2(0.0e+00):0,"
        f" DTX {3 * index}, current_Qm 4, current_RI 1, total_bytes RX/SCHED 9000/9100 newer 7\n"
        for index in range(COUNT)
    )


def rrc_log() -> str:
    return "".join(
        f"### {stamp(index)}\n"
        "UE 0 CU UE ID 1 DU UE ID 40352 RNTI 1a2b random identity c0f1ac9824000000:\n"
        f"      resultSSB: RSRP -72 dBm RSRQ -10.5 dB SINR {20 + index}.0 dB\n"
        for index in range(COUNT)
    )


def o1_log(rnti: int = 0x1A2B) -> str:
    lines = []
    for index in range(COUNT):
        operational = {"frame-type": "tdd", "band-number": 78, "num-ues": 1, "load": 40}
        operational |= {"ues-thp": [{"rnti": rnti, "dl": 11_000 + index, "ul": 300}], "ues": [rnti]}
        answer = {"o1-config": {"device": {"gnbId": 3584}}, "O1-Operational": operational}
        lines.append(json.dumps({"utc_ns": T0 + (index - 1) * EVERY_NS, "answer": answer}))
    return "\n".join(lines) + "\n"


def ue_log(at: bool = True) -> str:
    def prefix(index: int) -> str:
        millis = (T0 + (index - 1) * EVERY_NS) // MS
        instant = datetime.fromtimestamp(millis // 1000, timezone.utc)
        return f"{instant:%Y-%m-%dT%H:%M:%S}.{millis % 1000:03d}Z " if at else ""

    return "".join(
        f"{prefix(index)}[NR_MAC]   UE 0 RNTI 1a2b stats sfn: {index}.8, cumulated bad DCI 0\n"
        f"{prefix(index)}[PHY]   SINR = {5 + index} dB, CQI = 9\n"
        for index in range(COUNT)
    )


def run_with(directory: Path, **files: str) -> Path:
    run = steady().write(
        directory / "run", mac={"file": "raw/oai/nrMAC_stats.log", "source": "oai"}
    )
    (run / "raw" / "oai").mkdir()
    (run / "raw" / "oai" / "nrMAC_stats.log").write_text(mac_log())
    for name, content in files.items():
        (run / "raw" / "oai" / name.replace("__", ".").replace("_0", "0-")).write_text(content)
    return run


def analysed(directory: Path, **files: str) -> Analysis:
    return analysis_of(run_with(directory, **files), bin_ns=EVERY_NS)


def test_each_log_is_a_table_and_unknown_fields_stay(tmp_path: Path) -> None:
    analysis = analysed(
        tmp_path, nrL1_stats__log=l1_log(), nrRRC_stats__log=rrc_log(), ue_0stdout__log=ue_log(),
        **{"o1-stats__jsonl": o1_log()},
    )  # fmt: skip
    tables = analysis.tables
    assert len(tables["oai_l1"]) == 2 * COUNT
    assert len(tables["oai_rrc"]) == COUNT
    assert len(tables["oai_ue"]) == 2 * COUNT
    assert len(tables["oai_o1"]) == 2 * COUNT
    assert tables["oai_l1"]["extra"].dropna().iloc[0] == "newer 7"
    assert json.loads(tables["oai_o1"]["extra"].dropna().iloc[0]) == {
        "o1-config": {"device": {"gnbId": 3584}}
    }
    assert (tables["oai_ue"]["ue"] == 0).all()
    assert tables["oai_o1"]["o1_dl_throughput_bps"].dropna().iloc[0] == 11e6
    for name in ("oai_l1", "oai_rrc", "oai_ue", "oai_o1"):
        assert tables[name]["t_s"].iloc[0] == pytest.approx(-0.025)
        for each in tables[name]:
            assert column(str(each), name), f"{name}: {each} has no definition"
    assert analysis.summary["verdict"] == "valid"


def test_columns_that_the_mac_lacks_come_from_the_first_that_knows_them(tmp_path: Path) -> None:
    analysis = analysed(
        tmp_path, nrL1_stats__log=l1_log(), nrRRC_stats__log=rrc_log(), ue_0stdout__log=ue_log(),
        **{"o1-stats__jsonl": o1_log()},
    )  # fmt: skip
    aligned, alignment = analysis.tables["aligned"], analysis.summary["alignment"]
    # The bins begin with the first packet at T0, where the second report stands: of the interval
    # that follows, the third report has.
    assert aligned["mac_sinr_db"].iloc[:4].tolist() == pytest.approx([7, 8, 9, 10])
    assert aligned["mac_cqi"].iloc[:4].tolist() == pytest.approx([9] * 4)
    assert aligned["mac_rsrp_dbm"].iloc[0] == pytest.approx(-80), "the MAC's own, not RRC's"
    assert aligned["mac_ul_rounds_1_count"].iloc[:4].tolist() == pytest.approx([10] * 4)
    assert aligned["mac_ulsch_dtx_count"].iloc[:4].tolist() == pytest.approx([3] * 4)
    assert aligned["mac_ul_throughput_bps"].iloc[0] == pytest.approx(300e3)
    assert "mac_dl_sdu_throughput_bps" in aligned
    assert set(alignment["oai_ue"]["gives"]) == {"mac_sinr_db", "mac_cqi"}
    assert "gives" not in alignment["oai_rrc"]
    assert "mac_ul_rounds_1_count" in alignment["oai_l1"]["gives"]


def test_rrc_gives_sinr_where_the_ue_says_nothing(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, nrRRC_stats__log=rrc_log())
    assert analysis.tables["aligned"]["mac_sinr_db"].iloc[:4].tolist() == pytest.approx(
        [22, 23, 24, 25]
    )


def test_a_ue_log_without_utc_is_a_table_beside_nothing(tmp_path: Path) -> None:
    run = run_with(tmp_path, ue_0stdout__log=ue_log(at=False))
    summary = analyze(run)
    assert summary["alignment"]["oai_ue"]["uncertainty_ns"] is None
    assert "no UTC" in (run / "report.html").read_text()
    aligned = analysis_of(run).tables["aligned"]
    assert "mac_cqi" not in aligned


def test_another_runs_logs_are_left_out(tmp_path: Path) -> None:
    old = o1_log().replace(str(T0)[:5], str(T0 - 86_400 * 10**9)[:5])
    analysis = analysed(tmp_path, **{"o1-stats__jsonl": old})
    assert "oai_o1" not in analysis.tables
    assert "oai_o1" in " ".join(analysis.summary["verdict_reasons"])


@pytest.mark.parametrize("content", ["hello\n", "{}\n", '{"utc_ns": 1, "answer": []}\n'])
def test_what_is_no_answer_degrades_by_name(tmp_path: Path, content: str) -> None:
    analysis = analysed(tmp_path, **{"o1-stats__jsonl": content})
    assert "o1-stats.jsonl: no answer" in " ".join(analysis.summary["verdict_reasons"])


def test_an_empty_file_says_nothing(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, **{"o1-stats__jsonl": ""})
    assert analysis.summary["verdict"] == "valid"


def test_the_real_answer(tmp_path: Path) -> None:
    said = shared("oai/gnb-telnet-session-2026w11.txt").read_text()
    begins = said.index("{", said.index("o1 stats\n{"))
    answer, _ = json.JSONDecoder().raw_decode(said[begins:])
    file = tmp_path / "o1-stats.jsonl"
    file.write_text(json.dumps({"utc_ns": T0, "answer": answer}) + "\n")
    cell, ue = read_o1_log(file).table.to_dict("records")
    assert (cell["o1_band"], cell["o1_ue_count"], cell["o1_dl_load_percent"]) == (78, 1, 0)
    assert json.loads(cell["extra"]) == {"o1-config": answer["o1-config"]}
    assert (ue["mac_rnti"], ue["o1_dl_throughput_bps"]) == (19642, 0)
    assert describe(file)["kind"] == "oai-o1-stats"


def test_a_cut_answer_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "o1-stats.jsonl"
    whole = o1_log()
    for cut in range(1, len(whole), 97):
        file.write_text(whole[:cut])
        lines = whole[:cut].count("\n")
        if not lines:
            with pytest.raises(UnreadableInput):
                read_o1_log(file)
        else:
            assert len(read_o1_log(file).table) == 2 * lines


def test_two_ues_are_told_apart_by_their_rnti(tmp_path: Path) -> None:
    both = [json.loads(line) for line in (o1_log(1) + o1_log(2)).splitlines()]
    file = tmp_path / "o1-stats.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in both))
    table = numbered(read_o1_log(file).table, None)
    assert table["ue"].dropna().unique().tolist() == [0, 1]
    columns, given = secondary_on_bins({"oai_o1": table}, 1, Bins(T0, EVERY_NS, 3), ["mac_mcs"])
    assert np.allclose(columns["mac_dl_throughput_bps"], [11_002e3, 11_003e3, 11_004e3])
    assert given == {"oai_o1": ["mac_dl_throughput_bps", "mac_ul_throughput_bps"]}


def test_an_import_knows_them_by_their_content(tmp_path: Path) -> None:
    made = SyntheticRun()
    for index in range(60):
        at = T0 + index * MS
        packet = tcp((SERVER, 40001), (UE, 5201), 1 + index * 1448, 1, 1448)
        made.sender.add(at, packet)
        made.receiver.add(at + 10 * MS, packet)
    raw = made.write(tmp_path / "source") / "raw"
    folder = tmp_path / "mine_DL"
    folder.mkdir()
    (raw / "sender.pcap").rename(folder / "server.pcap")
    (raw / "receiver.pcap").rename(folder / "client.pcap")
    for name, content in (("a.log", l1_log()), ("b.txt", rrc_log()), ("c.log", ue_log()),
                          ("d.jsonl", o1_log())):  # fmt: skip
        (folder / name).write_text(content)
    (run,) = import_folder(folder, tmp_path / "runs", one_clock=True)
    assert sorted(file.name for file in (run.path / "raw" / "oai").iterdir()) == [
        "nrL1_stats.log", "nrRRC_stats.log", "o1-stats.jsonl", "ue0-stdout.log",
    ]  # fmt: skip
    assert "oai_o1" in analysis_of(run.path).tables
