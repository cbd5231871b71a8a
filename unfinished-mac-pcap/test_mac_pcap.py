# SPDX-License-Identifier: Apache-2.0
"""The capture of the MAC: tshark dissects each block, and their bytes are those of mac.csv."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from testsupport.runs import Runs

pytestmark = pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")

CELL = ("--cc", "cubic", "--ues", "2", "--prb", "24", "--scenario", "static", "--duration", "2s")
_CHANNEL_4 = (
    'uat:mac_nr_lcid_drb_mappings:"4","4","18 bits","18 bits","12 bits"',
)
FIELDS = (
    "mac-nr.direction", "mac-nr.ueid", "mac-nr.dlsch.lcid", "mac-nr.ulsch.lcid", "frame.len",
    "_ws.malformed", "mac-nr.padding-length",
)  # fmt: skip
# Headers of IP and UDP, and mac-nr's context, before each block.
_BEFORE_BYTES = 28 + 6 + 3 + 9 + 2 + 1


def dissected(file: Path) -> pd.DataFrame:
    """What tshark says of each block."""
    fields = [word for name in FIELDS for word in ("-e", name)]
    command = ["tshark", "-n", "-r", file, "--enable-heuristic", "mac_nr_udp", "-T", "fields"]
    ran = subprocess.run([*command, *fields], capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in ran.stdout.splitlines()]
    return pd.DataFrame(rows, columns=list(FIELDS))


@pytest.mark.parametrize("direction", ["--dl", "--ul"])
def test_tshark_dissects_all_blocks_and_their_bytes_are_the_macs(
    experiments: Runs, direction: str
) -> None:
    run = experiments(*CELL, direction, "--mac-pcap")
    blocks = dissected(run / "raw" / "mac.pcap")
    assert (blocks["_ws.malformed"] == "").all()
    assert (blocks["mac-nr.direction"] != "").all()
    length = blocks["frame.len"].astype(int) - _BEFORE_BYTES
    mac = pd.read_csv(run / "raw" / "mac.csv")
    for name, number in (("ul", "0"), ("dl", "1")):
        for ue in (0, 1):
            mine = (blocks["mac-nr.direction"] == number) & (blocks["mac-nr.ueid"] == str(ue + 1))
            counted = mac.loc[mac["ue"] == ue, f"mac_{name}_bytes"].iloc[-1]
            # The last interval of mac.csv may not have ended.
            assert 0 <= length[mine].sum() - counted <= 0.02 * counted + 200


def test_rlc_and_pdcp_see_every_packet_in_order(experiments: Runs) -> None:
    """Whole packets have RLC numbers that count up, which tshark's RLC dissector reads."""
    run = experiments(*CELL, "--dl", "--mac-pcap")
    blocks = dissected(run / "raw" / "mac.pcap")
    downlink = blocks[blocks["mac-nr.direction"] == "1"]
    assert (downlink["mac-nr.dlsch.lcid"].str.split(",").str[0] == "0x04").mean() > 0.9
