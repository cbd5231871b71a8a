# SPDX-License-Identifier: Apache-2.0
"""The capture of the MAC: tshark dissects each block, and their bytes are those of mac.csv."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from testsupport.drives import HANDOVERS, driven, events
from testsupport.prepared import command
from testsupport.runs import Runs

pytestmark = pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")

RADIOS = (
    ("--cc", "cubic", "--dl", "--scenario", "static"),
    ("--cc", "cubic", "--ul", "--scenario", "highway", "--rlc", "um"),
    ("--cc", "bbr", "--bidir", "--scenario", "cell-edge", "--rlc", "am", "--carriers", "2"),
)
CELL = ("--ues", "2", "--prb", "24", "--duration", "1s", "--mac-pcap")
DIRECTIONS = {"0": "ul", "1": "dl"}

_BEFORE_BYTES = 20 + len("mac-nr") + 17
"""Tags of an exported PDU and the context of mac-nr, before each transport block."""
_BEARER = "AM, SN Len=18"
_PREFERENCES = (
    f'uat:drb_bearerconfig:"LCID 4","1","{_BEARER}","{_BEARER}"',
    "rlc-nr.call_pdcp_for_dl_drb:18-bit SN",
    "rlc-nr.call_pdcp_for_ul_drb:18-bit SN",
    # Wireshark would warn of packets that come out of order or are lost: it is a real radio's work.
    "pdcp-nr.check_sequence_numbers:No-Analysis",
)
_FIELDS = {
    "at_ns": "frame.time_epoch",
    "bytes": "frame.len",
    "direction": "mac-nr.direction",
    "ue": "mac-nr.ueid",
    "expert": "_ws.expert.message",
    "sdu_bytes": "mac-nr.subheader.sdu-length",
    "segmentation": "rlc-nr.am.si",
    "number": "rlc-nr.am.sn",
    "pdcp_number": "pdcp-nr.seq-num",
}
_WHOLE, _FIRST = 0, 1
"""Values of the segmentation information (TS 38.322 table 6.2.3.4-1)."""
FEW = 10
"""The first packets in a cell may be segmented, or lost."""


def blocks(file: Path) -> pd.DataFrame:
    """Return what tshark says of each transport block; fields of its parts as lists."""
    options = ["--enable-heuristic", "mac_nr_udp"]
    options += [word for preference in _PREFERENCES for word in ("-o", preference)]
    options += [word for field in _FIELDS.values() for word in ("-e", field)]
    ran = subprocess.run(
        ["tshark", "-n", "-r", file, *options, "-T", "fields", "-E", "aggregator=;"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    rows = [line.split("\t") for line in ran.stdout.splitlines()]
    table = pd.DataFrame(rows, columns=list(_FIELDS))
    seconds = table["at_ns"].str.split(".", expand=True).astype(int)
    table["at_ns"] = seconds[0] * 10**9 + seconds[1]
    table["bytes"] = table["bytes"].astype(int) - _BEFORE_BYTES
    for name in ("sdu_bytes", "segmentation", "number", "pdcp_number"):
        numbers = table[name].str.split(";")
        table[name] = numbers.map(lambda all_: [int(one, 0) for one in all_ if one])
    return table


def ip_bytes(block: pd.Series) -> int:
    """Return the bytes of IP in a block: its SDUs without the headers of RLC, PDCP and SDAP."""
    headers = [3 + 4 if kind in (_WHOLE, _FIRST) else 5 for kind in block["segmentation"]]
    return sum(block["sdu_bytes"]) - sum(headers)


@pytest.mark.parametrize("radio", RADIOS, ids=[radio[2] for radio in RADIOS])
def test_tshark_dissects_all_blocks_and_their_bytes_are_those_of_mac_csv(
    experiments: Runs, radio: tuple[str, ...]
) -> None:
    run = experiments(*CELL, *radio)
    table = blocks(run / "raw" / "mac.pcap")
    assert set(table["direction"]) == set(DIRECTIONS)
    assert set(table["expert"]) == {""}
    table["ip_bytes"] = table.apply(ip_bytes, axis=1)
    mac = pd.read_csv(run / "raw" / "mac.csv")
    ends = mac["utc_ns"] + mac["duration_ns"]
    for number, direction in DIRECTIONS.items():
        for ue in (0, 1):
            of_ue = table[(table["direction"] == number) & (table["ue"] == str(ue + 1))]
            before = of_ue["at_ns"].searchsorted(ends[mac["ue"] == ue])
            counted = mac[mac["ue"] == ue].filter(like=f"mac_{direction}_").reset_index(drop=True)
            counted.columns = counted.columns.str.removeprefix(f"mac_{direction}_")
            for name, bytes_ in (
                ("bytes", counted["bytes"]),
                ("ip_bytes", counted["bytes"] - counted["header_bytes"] - counted["padding_bytes"]),
            ):
                total = of_ue[name].cumsum().to_numpy()
                captured = [total[blocks - 1] if blocks else 0 for blocks in before]
                assert captured == list(bytes_), (direction, ue, name)
            assert counted["bytes"].iloc[-1] > 0


def test_packets_have_one_number_each_without_a_gap(experiments: Runs) -> None:
    run = experiments(*CELL, *RADIOS[2])
    table = blocks(run / "raw" / "mac.pcap")
    mac = pd.read_csv(run / "raw" / "mac.csv")
    for (direction, ue), of_ue in table.groupby(["direction", "ue"]):
        begun: list[int] = []
        for _, block in of_ue.iterrows():
            kinds = dict(zip(block["number"], block["segmentation"], strict=True))
            whole = {number for number, kind in kinds.items() if kind == _WHOLE}
            # PDCP is dissected of packets that are whole, or put together of their segments.
            assert whole <= set(block["pdcp_number"]) <= set(kinds)
            begun += [number for number, kind in kinds.items() if kind in (_WHOLE, _FIRST)]
        assert len(set(begun)) == len(begun)
        of_mac = mac.loc[mac["ue"] == int(ue) - 1, f"mac_{DIRECTIONS[direction]}_sdu_count"]
        assert set(range(int(of_mac.iloc[-1]))) <= set(begun)


def numbers_in_cells(run: Path) -> dict[str, list[list[tuple[int, int]]]]:
    """Return `numbers_between` handovers: of each cell that served the UE."""
    changes = [one["utc_ns"] for one in events(run, "handover_complete")]
    assert len(changes) == len(HANDOVERS)
    return numbers_between(changes, run)


def numbers_between(changes: list[int], run: Path) -> dict[str, list[list[tuple[int, int]]]]:
    """Return, for each direction and then for each time between changes, the numbers of RLC and
    PDCP of the packets that arrived whole, in order."""
    table = blocks(run / "raw" / "mac.pcap")
    assert set(table["expert"]) == {""}
    numbers: dict[str, list[list[tuple[int, int]]]] = {
        direction: [[] for _ in range(len(changes) + 1)] for direction in DIRECTIONS.values()
    }
    for _, block in table.iterrows():
        period = sum(change <= block["at_ns"] for change in changes)
        kinds = zip(block["number"], block["segmentation"], strict=True)
        whole = [number for number, kind in kinds if kind == _WHOLE]
        # Before them may be the number of a packet that was put together of its segments.
        pdcp = block["pdcp_number"][len(block["pdcp_number"]) - len(whole) :]
        numbers[DIRECTIONS[block["direction"]]][period] += zip(whole, pdcp, strict=True)
    return numbers


@pytest.mark.parametrize("handover", ["a3", "cho", "daps", "ltm"])
def test_rlc_counts_from_0_in_the_target_and_pdcp_goes_on(
    kernel: Path, tmp_path: Path, handover: str
) -> None:
    run = driven(tmp_path, testbed="virtual", handover=handover, rlc="am", mac_pcap=True)
    for direction, cells in numbers_in_cells(run).items():
        last = -1
        for number, pairs in enumerate(cells):
            # PDCP hands packets to RLC in order of their numbers (TS 38.323 clause 5.1.2).
            pairs.sort()
            pdcp = [of_pdcp for _, of_pdcp in pairs]
            assert pdcp == sorted(set(pdcp)), direction
            if handover == "ltm" or number == 0:
                # Source and target share RLC, which is not re-established.
                assert all(of_rlc == of_pdcp for of_rlc, of_pdcp in pairs), direction
            else:
                assert pairs[0][0] < pairs[0][1], direction
                assert pairs[0][0] < FEW, direction
            assert pdcp[-1] > last, direction
            last = pdcp[-1]


def test_in_unacknowledged_mode_both_count_from_0(kernel: Path, tmp_path: Path) -> None:
    run = driven(tmp_path, testbed="virtual", handover="a3", rlc="um", mac_pcap=True)
    for direction, cells in numbers_in_cells(run).items():
        for pairs in cells:
            assert all(of_rlc == of_pdcp for of_rlc, of_pdcp in pairs), direction
            assert min(pairs)[0] < FEW, direction


def test_after_rrc_idle_both_count_from_0(experiments: Runs, tmp_path: Path) -> None:
    """The bearers are released with the connection (TS 38.331 clause 5.3.11)."""
    sleep = tmp_path / "idle.yaml"
    sleep.write_text(
        "summary: RRC_IDLE after 0.3 s\nsources: [chosen]\n"
        "radio: {rrc: {idle: {after_s: 0.3, setup_ms: 50}}}\n"
    )
    run = experiments(
        "--flows", "cubic@0,cubic@2", "--traffic", "tcp:300kB", "--dl", "--scenario", "static",
        "--rlc", "am", "--prb", "24", "--drx", str(sleep), "--duration", "4s", "--mac-pcap",
    )  # fmt: skip
    states = events(run, "rrc_state")
    connected = [one["utc_ns"] for one in states if one["state"] == "connected"]
    for direction, connections in numbers_between(connected, run).items():
        used = [pairs for pairs in connections if pairs]
        assert len(used) >= 2, direction
        for pairs in used:
            assert all(of_rlc == of_pdcp for of_rlc, of_pdcp in pairs), direction
            assert min(pairs)[0] < FEW < len(pairs), direction


def test_without_the_option_nothing_is_written_and_packets_are_the_same(experiments: Runs) -> None:
    recorded = experiments(*CELL, *RADIOS[0])
    plain = experiments(*CELL[:-1], *RADIOS[0])
    assert not (plain / "raw" / "mac.pcap").exists()
    for file in ("sender.pcap", "receiver.pcap", "mac.csv"):
        assert (plain / "raw" / file).read_bytes() == (recorded / "raw" / file).read_bytes()


def test_a_block_of_more_than_64_kib_is_dissected(experiments: Runs) -> None:
    run = experiments(
        "--traffic", "udp:1200M", "--dl", "--radio", "n78-100MHz-4x4", "--scenario", "static",
        "--duration", "1s", "--mac-pcap",
    )  # fmt: skip
    table = blocks(run / "raw" / "mac.pcap")
    assert table["bytes"].max() > 65536
    assert set(table["expert"]) == {""}


def test_a_phone_that_has_no_blocks_refuses(tmp_path: Path) -> None:
    ran = command(
        "ccu", "run", "--testbed", "phone", "--cc", "cubic", "--mac-pcap", folder=tmp_path
    )
    assert ran.returncode == 2
    assert "--mac-pcap: " in ran.stderr
