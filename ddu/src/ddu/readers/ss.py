# SPDX-License-Identifier: Apache-2.0
"""The text of `ss -tin` (iproute2), sampled by a script that wrote a time beside each sample.

The columns have the names and units of ddu.readers.sockets, which reads the same from netlink;
source of the words of ss: misc/ss.c of iproute2.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from pathlib import Path

from ddu.errors import UnreadableInput
from ddu.readers.fields import Values, number
from ddu.readers.format import ARRIVAL, Format, by_line
from ddu.readers.logs import LogTable, content_of, table_of, whole_lines
from ddu.readers.timestamps import Stamp, stamp

FIRST = ("utc_ns", "local_ns", "of_day_ns", "sample", "src", "sport", "dst", "dport", "cong")
_STATES = ("ESTAB", "SYN-SENT", "SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT", "CLOSE-WAIT",
           "LAST-ACK", "CLOSING", "UNCONN", "LISTEN", "CLOSED")  # fmt: skip
_SOCKET = re.compile(
    r"^(?:tcp\s+)?("
    + "|".join(_STATES)
    + r")\s+(\d+)\s+(\d+)\s+(\S+):(\d+|\*)\s+(\S+):(\d+|\*)(.*)$"
)
_ON_ONE_LINE = re.compile(r"\b(?:rto|mss|cwnd):\d")
"""`ss -tinO` prints a socket in one line."""
_HEADING = re.compile(r"^(?:Netid\s+)?State\s+Recv-Q")
_NOT_CONGESTION = ("ts", "sack", "ecn", "ecnseen", "fastopen", "app_limited", "tcp-ulp-tls")
_SECONDS = {"ms": 1e3, "s": 1e6, "us": 1.0, "sec": 1e6, "min": 60e6}
_RATE = re.compile(r"^(\d+(?:\.\d+)?)([KMGT]?)bps$")
_RATE_SCALE = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

_PLAIN = {
    "ca_state": "ca_state", "backoff": "backoff", "mss": "snd_mss_bytes", "pmtu": "pmtu_bytes",
    "rcvmss": "rcv_mss_bytes", "advmss": "advmss_bytes", "cwnd": "snd_cwnd_packets",
    "ssthresh": "snd_ssthresh_packets", "bytes_sent": "bytes_sent", "bytes_acked": "bytes_acked",
    "bytes_retrans": "bytes_retrans", "bytes_received": "bytes_received",
    "segs_out": "segs_out_count", "segs_in": "segs_in_count",
    "data_segs_out": "data_segs_out_count", "data_segs_in": "data_segs_in_count",
    "lastsnd": "last_data_sent_ms", "lastrcv": "last_data_recv_ms", "lastack": "last_ack_recv_ms",
    "unacked": "unacked_packets", "sacked": "sacked_packets", "lost": "lost_packets",
    "dsack_dups": "dsack_dups_count", "reordering": "reordering_packets",
    "reord_seen": "reord_seen_count", "rcv_space": "rcv_space_bytes",
    "rcv_ssthresh": "rcv_ssthresh_bytes", "notsent": "notsent_bytes", "snd_wnd": "snd_wnd_bytes",
    "rcv_wnd": "rcv_wnd_bytes", "delivered": "delivered_count",
    "delivered_ce": "delivered_ce_count", "rcv_ooopack": "rcv_ooopack_count",
    "rehash": "rehash_count",
}  # fmt: skip
_MILLISECONDS = {"rto": "rto_us", "ato": "ato_us", "minrtt": "min_rtt_us", "rcv_rtt": "rcv_rtt_us"}
_TIMES = {"busy": "busy_time_us", "rwnd_limited": "rwnd_limited_us",
          "sndbuf_limited": "sndbuf_limited_us"}  # fmt: skip
_SPACED_RATES = {
    "pacing_rate": "pacing_rate_bytes_per_s", "delivery_rate": "delivery_rate_bytes_per_s",
}  # fmt: skip


@dataclass
class _Sample:
    rows: list[Values]
    at: Stamp | None = None


def read_ss(file: Path) -> LogTable:
    """One row per socket and sample.

    `utc_ns` where the script wrote an instant; `local_ns` or `of_day_ns` where it wrote a time
    without zone or date. A script writes its time before or after what ss printed; which, shows
    at the file's beginning. Sockets without TCP information (LISTEN) are left out.
    Raises UnreadableInput when no socket is in the file.
    """
    text, truncated_at = whole_lines(content_of(file))
    samples, time_is_last = _samples(text)
    rows = []
    for index, sample in enumerate(samples):
        times = sample.at.columns if sample.at else {}
        rows += [{**times, "sample": index, **row} for row in sample.rows]
    if not rows:
        raise UnreadableInput(
            file, "no TCP socket as `ss -tin` prints it", "was there a connection at the time?"
        )
    place = "after" if time_is_last else "before"
    timed = any(sample.at for sample in samples)
    notes = (f"each sample's time stands {place} it",) if timed else ("no time in the file",)
    return LogTable(file, "ss", table_of(rows, FIRST), "", truncated_at, notes)


def _samples(text: str) -> tuple[list[_Sample], bool]:
    blocks: list[Stamp | _Sample] = []
    pending: Values | None = None
    for line in text.splitlines():
        at = stamp(line)
        if at is not None:
            blocks.append(at)
            pending = None
        elif _HEADING.match(line):
            blocks.append(_Sample([]))
            pending = None
        elif match := _SOCKET.match(line):
            if not blocks or isinstance(blocks[-1], Stamp):
                blocks.append(_Sample([]))
            pending = _endpoints(match)
            if _ON_ONE_LINE.search(match[8]):
                _complete(blocks, pending, match[8])
                pending = None
        elif pending is not None and line[:1] in ("\t", " ") and line.strip():
            _complete(blocks, pending, line)
            pending = None
    return _joined(blocks)


def _complete(blocks: list[Stamp | _Sample], row: Values, text: str) -> None:
    sample = blocks[-1]
    if isinstance(sample, _Sample) and row["state"] != "LISTEN":
        sample.rows.append(row | dict(_information(text)))


def _joined(blocks: list[Stamp | _Sample]) -> tuple[list[_Sample], bool]:
    samples = [block for block in blocks if isinstance(block, _Sample)]
    time_is_last = bool(blocks) and isinstance(blocks[0], _Sample)
    latest: Stamp | None = None
    for block in reversed(blocks) if time_is_last else blocks:
        if isinstance(block, Stamp):
            latest = block
        else:
            block.at = latest
    return samples, time_is_last


def _endpoints(match: re.Match[str]) -> Values:
    return {
        "src": _address(match[4]),
        "sport": number(match[5]),
        "dst": _address(match[6]),
        "dport": number(match[7]),
        "state": match[1],
        "rqueue_bytes": int(match[2]),
        "wqueue_bytes": int(match[3]),
    }


def _address(text: str) -> str:
    """Return an address as in packets: without brackets or interface, IPv4-mapped as IPv4."""
    bare = text.strip("[]").partition("%")[0].strip("[]")
    try:
        address = ip_address(bare)
    except ValueError:
        return bare
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return str(mapped or address)


def _information(text: str) -> Iterator[tuple[str, object]]:
    """Yield the columns of a line of TCP information; what has no column is in `extra`."""
    words = iter(re.sub(r"\b(users|ino|sk|cgroup|timer):\S+", " ", text).split())
    extra: list[str] = []
    informed = False
    for word in words:
        key, colon, value = word.partition(":")
        if word in _SPACED_RATES or word == "send":
            text_of_rate = next(words, "")
            rate, name = _rate(text_of_rate), _SPACED_RATES.get(word)
            if name and rate is not None:
                yield name, rate
            elif rate is None:
                extra += [word, text_of_rate]
        elif word == "app_limited":
            yield "delivery_rate_app_limited", 1
        elif not colon:
            # Behind the information stand words of others, as of TLS in the kernel.
            if word in _NOT_CONGESTION or informed:
                extra.append(word)
            else:
                yield "cong", word
        elif parse := _FIELDS.get(key):
            informed = True
            try:
                yield from parse(value)
            except ValueError:
                extra.append(word)
        else:
            extra.append(word)
    if extra:
        yield "extra", " ".join(extra)


def _rate(text: str) -> float | None:
    """Return a rate in bytes per second; ss prints bits, with or without a decimal prefix, and
    after a slash the limit that the program has set."""
    match = _RATE.match(text.partition("/")[0])
    return float(match[1]) * _RATE_SCALE[match[2]] / 8 if match else None


Reader = Callable[[str], list[tuple[str, object]]]


def _fields() -> dict[str, Reader]:
    def plain(name: str, factor: float = 1.0) -> Reader:
        return lambda value: [(name, float(value) * factor)]

    def pair(separator: str, first: str, second: str, factor: float = 1.0) -> Reader:
        def read(value: str) -> list[tuple[str, object]]:
            one, other = value.split(separator)
            return [(first, float(one) * factor), (second, float(other) * factor)]

        return read

    def duration(name: str) -> Reader:
        def read(value: str) -> list[tuple[str, object]]:
            match = re.match(r"^([\d.]+)(us|ms|sec|min|s)", value)
            if not match:
                raise ValueError(value)
            return [(name, float(match[1]) * _SECONDS[match[2]])]

        return read

    def bbr(value: str) -> list[tuple[str, object]]:
        match = dict(part.split(":", 1) for part in value.strip("()").split(","))
        read: list[tuple[str, object]] = []
        if (rate := _rate(match.get("bw", ""))) is not None:
            read.append(("bbr_bw_bytes_per_s", rate))
        if "mrtt" in match:
            read.append(("bbr_min_rtt_us", float(match["mrtt"]) * 1e3))
        for word in ("pacing_gain", "cwnd_gain"):
            if word in match:
                read.append((f"bbr_{word}_256ths", float(match[word]) * 256))
        return read

    fields: dict[str, Reader] = {word: plain(name) for word, name in _PLAIN.items()}
    fields |= {word: plain(name, 1e3) for word, name in _MILLISECONDS.items()}
    fields |= {word: duration(name) for word, name in _TIMES.items()}
    return fields | {
        "rtt": pair("/", "rtt_us", "rttvar_us", 1e3),
        "retrans": pair("/", "retrans_packets", "total_retrans_count"),
        "wscale": pair(",", "snd_wscale", "rcv_wscale"),
        "bbr": bbr,
    }


_FIELDS = _fields()


FORMATS = (
    Format(
        "ss", by_line(rf"^(?:tcp\s+)?(?:{'|'.join(_STATES)})\s+\d+\s+\d+\s"), read_ss, ARRIVAL,
        "sockets", source="ss",
    ),
)  # fmt: skip
