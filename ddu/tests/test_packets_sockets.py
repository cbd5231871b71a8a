# SPDX-License-Identifier: Apache-2.0
"""Socket samples against `ss` and against the offsets that a C compiler gives tcp_info."""

from __future__ import annotations

import fcntl
import re
import shutil
import socket
import struct
import subprocess
import termios
from pathlib import Path

import pytest

from ddu.errors import UnreadableInput
from ddu.readers.sockets import read_sockets
from testsupport.waiting import until

NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST_DUMP, NLMSG_DONE = 4, 20, 0x301, 3
ALL_STATES, EVERY_EXTENSION = 0xFFF, 0xFF


def dump(family: int) -> bytes:
    """Return the kernel's answer to an inet_diag dump of TCP sockets."""
    body = struct.pack("BBBxI48x", family, socket.IPPROTO_TCP, EVERY_EXTENSION, ALL_STATES)
    header = struct.pack("=IHHII", 16 + len(body), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST_DUMP, 0, 0)
    answer = b""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG) as netlink:
        netlink.send(header + body)
        done = False
        while not done:
            part = netlink.recv(1 << 18)
            answer += part
            done = struct.unpack_from("=IH", part)[1] == NLMSG_DONE
    return answer


def netlink_pcap(records: list[bytes], order: str = "=") -> bytes:
    content = struct.pack(order + "IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 1 << 18, 253)
    for number, record in enumerate(records):
        frame = struct.pack(">HH10xH", 0, 824, NETLINK_SOCK_DIAG) + record
        content += struct.pack(order + "IIII", 1, number, len(frame), len(frame)) + frame
    return content


def row_of(path: Path, sport: int, dport: int) -> dict[str, int | str | None]:
    rows = read_sockets(path).table.to_pylist()
    (row,) = [row for row in rows if (row["sport"], row["dport"]) == (sport, dport)]
    return dict(row)


SS_FIELDS = {
    r"skmem:\(r\d+,rb(\d+)": "skmem_rcvbuf_bytes",
    r"skmem:.*tb(\d+)": "skmem_sndbuf_bytes",
    r"wscale:(\d+)": "snd_wscale",
    r"wscale:\d+,(\d+)": "rcv_wscale",
    r" mss:(\d+)": "snd_mss_bytes",
    r"rcvmss:(\d+)": "rcv_mss_bytes",
    r"advmss:(\d+)": "advmss_bytes",
    r"pmtu:(\d+)": "pmtu_bytes",
    r"cwnd:(\d+)": "snd_cwnd_packets",
    r"bytes_sent:(\d+)": "bytes_sent",
    r"bytes_acked:(\d+)": "bytes_acked",
    r"segs_out:(\d+)": "segs_out_count",
    r"segs_in:(\d+)": "segs_in_count",
    r"data_segs_out:(\d+)": "data_segs_out_count",
    r"delivered:(\d+)": "delivered_count",
    r"rcv_space:(\d+)": "rcv_space_bytes",
    r"rcv_ssthresh:(\d+)": "rcv_ssthresh_bytes",
    r"snd_wnd:(\d+)": "snd_wnd_bytes",
    r"ino:(\d+)": "inode",
}


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
def test_the_fields_that_ss_shows(tmp_path: Path, host: str) -> None:
    if not shutil.which("ss"):
        pytest.skip("ss is not installed")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as server, socket.socket(family) as client:
        server.bind((host, 0))
        server.listen()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
        client.connect(server.getsockname()[:2])
        connection, _ = server.accept()
        client.sendall(bytes(50_000))
        assert len(connection.recv(50_000, socket.MSG_WAITALL)) == 50_000
        # Until the last acknowledgment is in.
        until(lambda: fcntl.ioctl(client, termios.TIOCOUTQ, bytes(4)) == bytes(4))
        sport, dport = client.getsockname()[1], server.getsockname()[1]
        path = tmp_path / "sockets.pcap"
        path.write_bytes(netlink_pcap([dump(family)]))
        command = ["ss", "-HtineOm", f"sport = :{sport}", "and", f"dport = :{dport}"]
        shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        connection.close()
    row = row_of(path, sport, dport)
    for pattern, column in SS_FIELDS.items():
        match = re.search(pattern, shown)
        assert match, f"{pattern} in {shown}"
        assert row[column] == int(match[1]), column
    rtt_ms, rttvar_ms = re.findall(r"rtt:([\d.]+)/([\d.]+)", shown)[0]
    assert (row["rtt_us"], row["rttvar_us"]) == (
        round(1000 * float(rtt_ms)),
        round(1000 * float(rttvar_ms)),
    )
    assert row["cong"] == "reno"
    assert row["src"] == row["dst"] == host.removeprefix("::ffff:")
    assert row["snd_ssthresh_packets"] is None  # still in its first slow start
    assert row["max_pacing_rate_bytes_per_s"] is None
    assert row["vegas_rtt_us"] is None


def kernel_offsets(tmp_path: Path) -> dict[str, tuple[int, int]]:
    """Offset and size of the members of struct tcp_info in this system's header."""
    header = Path("/usr/include/linux/tcp.h")
    compiler = shutil.which("cc")
    if not compiler or not header.exists():
        pytest.skip("a C compiler and linux/tcp.h are needed")
    text = header.read_text().split("struct tcp_info {")[1].split("};")[0]
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    members = [
        m for m in re.findall(r"tcpi_(\w+)\s*;", text) if "fail" not in m and "wscale" not in m
    ]
    lines = "".join(
        f'printf("%s %zu %zu\\n", "{m}", offsetof(struct tcp_info, tcpi_{m}),'
        f"sizeof(((struct tcp_info *)0)->tcpi_{m}));"
        for m in members
    )
    source = tmp_path / "offsets.c"
    source.write_text(
        "#include <stdio.h>\n#include <stddef.h>\n#include <linux/tcp.h>\n"
        f"int main(void) {{ {lines} return 0; }}"
    )
    subprocess.run([compiler, "-o", tmp_path / "offsets", source], check=True)
    shown = subprocess.run([tmp_path / "offsets"], capture_output=True, text=True, check=True)
    return {
        name: (int(at), int(size)) for name, at, size in map(str.split, shown.stdout.splitlines())
    }


UNITS = ("", "_us", "_ms", "_bytes", "_packets", "_count", "_bytes_per_s")
LEFT_OUT = {"state", "fackets", "last_ack_sent"}
"""In inet_diag_msg too; always 0 since Linux 4.15; never filled."""


def test_every_member_of_tcp_info_is_read_where_the_compiler_puts_it(tmp_path: Path) -> None:
    offsets = kernel_offsets(tmp_path)
    assert len(offsets) > 40
    size = max(at + bytes_ for at, bytes_ in offsets.values())
    for name, (at, bytes_) in offsets.items():
        if name in LEFT_OUT:
            continue
        info = bytearray(size)
        info[at : at + bytes_] = bytes(range(1, bytes_ + 1))
        row = sample(tmp_path, bytes(info))
        numbers = [row.get(name + unit) for unit in UNITS]
        value = int.from_bytes(info[at : at + bytes_], "little")
        assert [number for number in numbers if number is not None] == [value], name


def sample(tmp_path: Path, info: bytes, order: str = "<") -> dict[str, int | str | None]:
    """The row of one made-up socket with this struct tcp_info."""
    message = struct.pack("BBBB", 2, 1, 0, 0) + struct.pack(">HH", 1, 2) + bytes(64)
    attribute = struct.pack(order + "HH", 4 + len(info), 2) + info
    length = 16 + len(message) + len(attribute)
    header = struct.pack(order + "IHHII", length, SOCK_DIAG_BY_FAMILY, 0, 0, 0)
    path = tmp_path / "made-up.pcap"
    path.write_bytes(netlink_pcap([header + message + attribute], order))
    return row_of(path, 1, 2)


def test_a_shorter_tcp_info_has_nulls_and_the_byte_order_is_the_files(tmp_path: Path) -> None:
    for order in "<>":
        row = sample(tmp_path, struct.pack(order + "8x26I", *range(26)), order)
        assert (row["rto_us"], row["rtt_us"]) == (0, 15)
        assert row["bytes_acked"] is None
        assert row["cong"] is None


def test_cut_files_and_others(tmp_path: Path) -> None:
    path = tmp_path / "sockets.pcap"
    whole = netlink_pcap([dump(socket.AF_INET)] * 2)
    path.write_bytes(whole[:-1])
    cut = read_sockets(path)
    assert cut.truncated_at == 24 + (len(whole) - 24) // 2
    path.write_bytes(netlink_pcap([b"\0" * 50]).replace(b"\xfd\0\0\0", b"\x65\0\0\0", 1))
    with pytest.raises(UnreadableInput, match=r"link type 101, not netlink \(253\)"):
        read_sockets(path)
