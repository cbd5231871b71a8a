# SPDX-License-Identifier: Apache-2.0
"""The text of `ss -tin`: against the kernel's own answer, and with the times that people write."""

from __future__ import annotations

import socket
import struct
import subprocess
from datetime import datetime, timezone
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddu.errors import UnreadableInput
from ddu.readers.logs import LogTable
from ddu.readers.ss import read_ss
from ddu.readers.timestamps import stamp

HERCULES = """\
State   Recv-Q    Send-Q        Local Address:Port         Peer Address:Port

054727.076843

State   Recv-Q    Send-Q         Local Address:Port        Peer Address:Port
ESTAB   0         79640         192.0.2.129:54770         198.51.100.154:10000
\t cubic wscale:12,12 rto:212 rtt:9.061/4.657 mss:1448 pmtu:1500 rcvmss:536 advmss:1448 cwnd:10 \
bytes_acked:38 segs_out:13 segs_in:2 send 12.8Mbps lastsnd:20 pacing_rate 25.6Mbps unacked:10

054727.180862
"""
BBR = """\
2026-11-21T17:42:00.5+01:00
State Recv-Q Send-Q Local Address:Port  Peer Address:PortProcess
ESTAB 0      0          [::ffff:192.0.2.2]:39296 [::ffff:203.0.113.80]:443 users:(("a b",fd=3))
\t bbr wscale:10,9 rto:208 rtt:7.687/14.18 ato:40 mss:1348 cwnd:58 ssthresh:146 retrans:1/23 \
bbr:(bw:158587736bps,mrtt:0.07,pacing_gain:1.25,cwnd_gain:2) send 81367504bps pacing_rate 8bps \
delivery_rate 154057136bps app_limited busy:224ms rwnd_limited:8ms(3.6%) minrtt:0.07 wobble:17
"""


def read(directory: Path, text: str) -> LogTable:
    file = directory / "some.cc"
    file.write_text(text)
    return read_ss(file)


def test_a_sample_of_hercules(tmp_path: Path) -> None:
    log = read(tmp_path, HERCULES)
    row = log.table.iloc[0]
    assert len(log.table) == 1
    # The file begins with a sample, so each time stands after its sample.
    assert row["of_day_ns"] == ((5 * 60 + 47) * 60 + 27) * 10**9 + 180_862_000
    assert pd.isna(row["utc_ns"])
    assert row[["src", "sport", "dst", "dport", "cong"]].tolist() == [
        "192.0.2.129", 54770, "198.51.100.154", 10000, "cubic",
    ]  # fmt: skip
    assert row[["rtt_us", "rttvar_us", "rto_us"]].tolist() == [9061, 4657, 212_000]
    assert row[["snd_cwnd_packets", "unacked_packets"]].tolist() == [10, 10]
    assert row["pacing_rate_bytes_per_s"] == 3.2e6
    assert row["wqueue_bytes"] == 79640


def test_bbr_and_what_is_unknown(tmp_path: Path) -> None:
    row = read(tmp_path, BBR).table.iloc[0]
    assert row["utc_ns"] == 1_795_279_320_500_000_000
    assert (row["src"], row["cong"]) == ("192.0.2.2", "bbr")
    assert row["bbr_bw_bytes_per_s"] == 158_587_736 / 8
    assert (row["bbr_min_rtt_us"], row["bbr_pacing_gain_256ths"]) == (pytest.approx(70), 320)
    assert (row["retrans_packets"], row["total_retrans_count"]) == (1, 23)
    assert (row["busy_time_us"], row["rwnd_limited_us"]) == (224_000, 8_000)
    assert row["delivery_rate_app_limited"] == 1
    assert row["extra"] == "wobble:17"


def test_equal_to_the_kernel(tmp_path: Path) -> None:
    """A connection over loopback, by ss and by getsockopt(TCP_INFO)."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname())
        peer, _ = server.accept()
        with client, peer:
            client.sendall(bytes(100_000))
            received = 0
            while received < 100_000:
                received += len(peer.recv(1 << 20))
            printed = subprocess.run(["ss", "-tinm"], capture_output=True, text=True, check=True)
            info = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
            port = client.getsockname()[1]
    table = read(tmp_path, "1795282920.123456789\n" + printed.stdout).table
    row = table[table["sport"] == port].iloc[0]
    words = struct.unpack_from("=24I", info, 8)
    # struct tcp_info, include/uapi/linux/tcp.h: 8 bytes, then rto, ato, snd_mss, rcv_mss …
    assert (row["rto_us"], row["snd_mss_bytes"]) == (words[0] // 1000 * 1000, words[2])
    assert row["pmtu_bytes"] == words[13]
    assert row["rtt_us"] == pytest.approx(words[15], abs=1)
    assert (row["snd_cwnd_packets"], row["advmss_bytes"]) == (words[18], words[19])
    assert row["bytes_acked"] == 100_001
    assert row["utc_ns"] == 1_795_282_920_123_456_789


@pytest.mark.parametrize(
    ("text", "kind", "ns"),
    [
        ("1795282920.5", "utc_ns", 1_795_282_920_500_000_000),
        ("1795282920", "utc_ns", 1_795_282_920_000_000_000),
        ("1795282920500", "utc_ns", 1_795_282_920_500_000_000),
        ("1795282920500000000", "utc_ns", 1_795_282_920_500_000_000),
        ("2026-11-21T17:42:00.5Z", "utc_ns", 1_795_282_920_500_000_000),
        ("2026-11-21 18:42:00,5+01:00", "utc_ns", 1_795_282_920_500_000_000),
        ("Sat Nov 21 17:42:00 UTC 2026", "utc_ns", 1_795_282_920_000_000_000),
        ("Sat Nov 21 05:42:00 PM UTC 2026", "utc_ns", 1_795_282_920_000_000_000),
        ("Sat Nov 21 17:42:00 CET 2026", "local_ns", 1_795_282_920_000_000_000),
        ("2026-11-21 17:42:00", "local_ns", 1_795_282_920_000_000_000),
        ("174200.5", "of_day_ns", 63_720_500_000_000),
        ("17:42:00", "of_day_ns", 63_720_000_000_000),
    ],
)
def test_times_as_people_write_them(text: str, kind: str, ns: int) -> None:
    time = stamp(text)
    assert time is not None
    assert getattr(time, kind) == ns
    assert [time.utc_ns, time.local_ns, time.of_day_ns].count(None) == 2


@pytest.mark.parametrize("text", ["", "hello", "996161.5", "2026-13-01 00:00:00", "17", "1.2.3"])
def test_what_is_no_time(text: str) -> None:
    assert stamp(text) is None


@given(st.datetimes(datetime(1971, 1, 1), datetime(2099, 1, 1)))
def test_iso_times_against_datetime(at: datetime) -> None:
    utc = at.replace(tzinfo=timezone.utc)
    parsed = stamp(utc.isoformat())
    assert parsed is not None
    assert parsed.utc_ns is not None
    assert parsed.utc_ns // 1000 == round(utc.timestamp() * 1e6)


def test_a_file_without_sockets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match=r"some\.cc"):
        read(tmp_path, "State Recv-Q Send-Q\n")


@pytest.mark.parametrize(
    ("text", "utc_ns"),
    [
        ("Sun Nov 29 20:22:16 +08 2026", 1_795_954_936_000_000_000),
        ("Sun 29 Nov 2026 12:22:16 PM UTC", 1_795_954_936_000_000_000),
        ("Sun Nov 29 12:22:16 GMT", None),
    ],
)
def test_dates_of_other_locales_and_zones(text: str, utc_ns: int | None) -> None:
    time = stamp(text)
    assert (time.utc_ns if time else None) == utc_ns


@pytest.mark.parametrize(
    "more",
    ["", " tcp-ulp-tls version: 1.3 cipher: aes-gcm-128 rxconf: sw", " tcp-ulp-mptcp flags:Mm"],
)
def test_words_after_the_information_are_no_congestion_control(tmp_path: Path, more: str) -> None:
    text = BBR.replace(" wobble:17", more).replace("pacing_rate 8bps", "pacing_rate 16bps/800bps")
    row = read(tmp_path, text).table.iloc[0]
    assert (row["cong"], row["pacing_rate_bytes_per_s"]) == ("bbr", 2)
