# SPDX-License-Identifier: Apache-2.0
"""Transport blocks that OpenAirInterface writes for Wireshark: the table has what tshark says."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from ddu.analyze import analysis_of
from ddu.describe import describe
from ddu.errors import UnreadableInput
from ddu.importing.survey import survey
from ddu.readers.mac_nr import read_mac_nr
from testsupport.synthetic_run import MS, T0, steady

UPLINK, DOWNLINK = 0, 1
RA, C, SI = 2, 3, 4
PADDING = b"\x3f"
BLOCKS = (
    (DOWNLINK, SI, 0xFFFF, 12, 0, PADDING + bytes(83)),
    (UPLINK, C, 0x1234, 12, 8, b"\x3d\x07" + PADDING + bytes(500)),
    (DOWNLINK, C, 0x1234, 13, 1, PADDING + bytes(2411)),
    (DOWNLINK, C, 0x7E57, 13, 2, PADDING + bytes(99)),
)
EVERY_NS = 5 * MS


def framed(direction: int, rnti_type: int, rnti: int, frame: int, slot: int, block: bytes) -> bytes:
    """Return the payload of the datagram: TDD, RNTI, number of the UE, frame and slot."""
    context = b"mac-nr" + bytes([2, direction, rnti_type])
    context += struct.pack(">BHBHBHH", 2, rnti, 3, 0, 7, frame, slot)
    context += b"\x05\x00" if direction == UPLINK else b""
    return context + b"\x01" + block


def datagram(payload: bytes, port: int = 9999) -> bytes:
    udp = struct.pack(">HHHH", port, port, 8 + len(payload), 0) + payload
    address = bytes([127, 0, 0, 1])
    return struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0, 8, 17, 0) + address * 2 + udp


def capture(packets: list[bytes], link: int = 228) -> bytes:
    """Return a capture in the order of this machine's bytes, with µs, as OAI writes it."""
    content = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link)
    for number, packet in enumerate(packets):
        seconds, ns = divmod(T0 + number * EVERY_NS, 10**9)
        content += struct.pack("<IIII", seconds, ns // 1000, len(packet), len(packet)) + packet
    return content


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "mac.pcap"
    file.write_bytes(capture([datagram(framed(*block)) for block in BLOCKS]))
    return file


@pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")
def test_each_block_has_what_tshark_says(file: Path) -> None:
    fields = ["mac-nr.direction", "mac-nr.rnti-type", "mac-nr.rnti", "mac-nr.sfn"]
    fields += ["mac-nr.slot", "_ws.col.Info", "frame.time_epoch"]
    command = ["tshark", "-n", "-r", file, "--enable-heuristic", "mac_nr_udp", "-T", "fields"]
    command += [word for field in fields for word in ("-e", field)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    table = read_mac_nr(file).table
    lines = [line.split("\t") for line in said.splitlines()]
    assert len(lines) == len(table) == len(BLOCKS)
    types = {RA: "RA-RNTI", C: "C-RNTI", SI: "SI-RNTI"}
    for line, (_, row) in zip(lines, table.iterrows(), strict=True):
        direction, rnti_type, rnti, frame, slot, info, epoch = line
        assert row["pdu_direction"] == ("ul", "dl")[int(direction)]
        assert row["rnti_type"] == types[int(rnti_type)]
        assert row["mac_rnti"] == int(rnti, 0)
        assert (row["frame"], row["slot"]) == (int(frame), int(slot))
        seconds, ns = epoch.split(".")
        assert row["utc_ns"] == int(seconds) * 10**9 + int(ns)
        if rnti_type == str(SI):
            assert info.startswith("System Information")  # without its length
            continue
        (padding,) = re.findall(r"Padding (\d+) bytes", info)
        report_bytes = 2 if direction == "0" else 0
        assert row["pdu_bytes"] == report_bytes + 1 + int(padding)


def test_what_was_sent_to_wireshark_can_be_captured_among_others(tmp_path: Path) -> None:
    ethernet = bytes(12) + b"\x08\x00"
    packets = [datagram(b"other", 53), datagram(framed(*BLOCKS[1])), datagram(b"", 1)]
    file = tmp_path / "loopback.pcap"
    file.write_bytes(capture([ethernet + packet for packet in packets], link=1))
    (block,) = read_mac_nr(file).table.to_dict("records")
    assert (block["mac_rnti"], block["pdu_bytes"]) == (0x1234, 503)
    assert block["utc_ns"] == T0 + EVERY_NS


def test_a_run_and_an_import_have_them_as_a_table(file: Path, tmp_path: Path) -> None:
    described = describe(file)
    assert (described["kind"], described["rows"]) == ("mac-nr-pcap", len(BLOCKS))
    run = steady().write(tmp_path / "run")
    (run / "raw" / "oai").mkdir()
    shutil.copy(file, run / "raw" / "oai" / "mac.pcap")
    analysis = analysis_of(run, bin_ns=20 * MS)
    table = analysis.tables["mac_pdus"]
    assert list(table["pdu_bytes"]) == [len(block[-1]) for block in BLOCKS]
    assert analysis.summary["alignment"]["mac_pdus"]["uncertainty_ns"] == MS
    folder = tmp_path / "measured"
    folder.mkdir()
    shutil.copy(file, folder / "mac.pcap")
    for name in ("sender.pcap", "receiver.pcap"):
        shutil.copy(run / "raw" / name, folder / name)
    (measured,) = survey(folder)
    assert measured.tables == {"oai/mac.pcap": folder / "mac.pcap"}


def test_a_file_that_ends_within_a_block_gives_those_before(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[:-1])
    log = read_mac_nr(file)
    assert len(log.table) == len(BLOCKS) - 1
    assert log.truncated_at == len(capture([datagram(framed(*block)) for block in BLOCKS[:-1]]))


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (capture([datagram(b"mac-nr\x02\x01\x03\x99")]), "the record at byte 24 has no context"),
        (capture([datagram(b"mac-nr\x02\x01\x03\x02\x12")]), "the record at byte 24"),
        (capture([datagram(b"mac-nr\x02\x09\x03\x01")]), "the record at byte 24"),
        (capture([datagram(b"other")]), "without transport blocks"),
        (capture([], link=147), "link type 147"),
        (b"not a capture", "not a capture"),
    ],
)
def test_anything_else_is_refused(tmp_path: Path, content: bytes, rule: str) -> None:
    file = tmp_path / "mac.pcap"
    file.write_bytes(content)
    with pytest.raises(UnreadableInput, match=rule):
        read_mac_nr(file)


def test_a_block_in_fragments_or_cut_by_the_capture_has_its_whole_size(tmp_path: Path) -> None:
    whole = datagram(framed(DOWNLINK, C, 0x1234, 13, 1, PADDING + bytes(8999)))
    first = whole[:20].replace(b"\x00\x00\x08\x11", b"\x20\x00\x08\x11") + whole[20:1500]
    content = capture([first])
    cut = capture([whole])[:40] + whole[:200]
    for number, packet in enumerate((content, cut[:32] + struct.pack("<I", 200) + cut[36:])):
        file = tmp_path / f"{number}.pcap"
        file.write_bytes(packet)
        assert list(read_mac_nr(file).table["pdu_bytes"]) == [9000]
