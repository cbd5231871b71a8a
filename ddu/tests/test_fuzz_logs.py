# SPDX-License-Identifier: Apache-2.0
"""Whatever a log is made of: a table or one clear error, and never more rows than bytes.

Seeds stand in seeds/logs, by the reader that knows them; what once crashed a reader is kept in
seeds/crashed.
DDU_FUZZ_EXAMPLES=100000 makes a long run of it (`make fuzz`).
"""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pandas as pd
import pytest

from ddu.align.mac_samples import mac_samples
from ddu.console.problems import RefusedError
from ddu.describe import describe
from ddu.importing.copying import copy_capture
from ddu.installation import CHECKOUT
from ddu.readers.android.drive_test import read_drive_test
from ddu.readers.android.events import events_of
from ddu.readers.android.log import read_phone_log
from ddu.readers.csv import read_samples
from ddu.readers.delays import read_delays
from ddu.readers.hercules import faults_of_series, read_series, read_wireless
from ddu.readers.iperf3 import read_iperf3
from ddu.readers.mac_nr import read_mac_nr
from ddu.readers.nr_link_events import read_radio_events
from ddu.readers.nr_link_flows import read_nr_link_flows, received_bytes
from ddu.readers.oai.mac import read_mac_log
from ddu.readers.oai.o1 import read_o1_log
from ddu.readers.oai.statistics import read_l1_log, read_rrc_log
from ddu.readers.oai.ue import read_ue_log
from ddu.readers.packets.capture import read_packets
from ddu.readers.qlog import read_qlog, read_quic_logs
from ddu.readers.radio_channel import read_radio_channel
from ddu.readers.ran_csv import read_ran_csv
from ddu.readers.recording import INTERVAL
from ddu.readers.ss import read_ss
from ddu.store.tails import CsvTail, SocketTail, Tail
from testsupport.changed_inputs import result_of, try_changes

assert CHECKOUT is not None
SEEDS = Path(__file__).parent / "seeds" / "logs"
CRASHED = SEEDS.parent / "crashed"
_OF_RUST = CHECKOUT / "ddu/packets/fuzz/seeds"
"""The seeds of the readers in Rust, which readers in Python share."""


def mac_and_samples(file: Path) -> Any:
    log = read_mac_log(file)
    mac_samples(log)
    return log


def series_and_faults(file: Path) -> Any:
    list(faults_of_series(file.parent, 1))
    return read_series(file)


def phone_and_events(file: Path) -> Any:
    log = read_phone_log(file)
    events_of(log.table[log.table["utc_ns"].notna()])
    mac_samples(log)
    return log


def qlog_of_both_ends(file: Path) -> Any:
    shutil.copyfile(file, file.with_name("f0-receiver.sqlog"))
    read_quic_logs(file.parents[1], (cast(Any, SimpleNamespace(id="f0")),))
    return read_qlog(file)


def delays(file: Path) -> Any:
    read = read_delays(file.parent)
    assert read is not None
    return pd.DataFrame(read.columns)


def flows_of_nr_link(file: Path) -> Any:
    received_bytes(file.parent, "f0")
    return read_nr_link_flows(file.parent) or []


def capture(file: Path) -> Any:
    """A compressed capture has more packets than bytes: they are not counted."""
    assert read_packets(file).packets.num_columns
    return []


def reference(file: Path) -> Any:
    return read_packets(file, reader="dpkt").packets


def archive(file: Path) -> Any:
    """Compress the changed archive: of a changed compressed one the checksum alone is wrong."""
    packed = file.with_suffix(".tar.gz")
    packed.write_bytes(gzip.compress(file.read_bytes(), 1))
    raw = file.with_suffix("") / "run" / "raw"
    shutil.rmtree(raw, ignore_errors=True)
    raw.mkdir(parents=True)
    return (raw / copy_capture(packed, raw, "sender")).read_bytes()


def rows_of(growing: Tail) -> Any:
    rows = growing.new_rows()
    return [] if rows is None else rows


READERS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "gnb": (mac_and_samples, "gnb.log"),
    "l1": (read_l1_log, "nrL1_stats.log"),
    "rrc": (read_rrc_log, "nrRRC_stats.log"),
    "ue": (read_ue_log, "ue.log"),
    "o1": (read_o1_log, "o1-stats.jsonl"),
    "ss": (read_ss, "core.cc"),
    "xapp": (read_ran_csv, "mac.csv"),
    "wireless": (read_wireless, "wireless_data.csv"),
    "iperf3": (read_iperf3, "iperf3.json"),
    "phone": (phone_and_events, "radio.txt"),
    "drive": (read_drive_test, "walk.csv"),
    "series": (series_and_faults, "cwnd_values.csv"),
    "qlog": (qlog_of_both_ends, "quic/f0-sender.sqlog"),
    "delays": (delays, "delays.npy"),
    "macnr": (read_mac_nr, "mac.pcap"),
    "channel": (read_radio_channel, "channel.csv"),
    "samples": (lambda file: read_samples(file, INTERVAL, numeric=True), "mac.csv"),
    "events": (lambda file: read_radio_events(file.parent), "radio-events.jsonl"),
    "flows": (flows_of_nr_link, "flows.json"),
    "bugreport": (phone_and_events, "bugreport.txt"),
    "capture": (capture, "sender.pcap"),
    "reference": (reference, "sender.pcap"),
    "archive": (archive, "sender.tar"),
    "table": (lambda _: [], "aligned.parquet"),
    "growing": (lambda file: rows_of(CsvTail(file)), "link.csv"),
    "sockets": (lambda file: rows_of(SocketTail(file)), "sockets.pcap"),
}


def seeds(name: str) -> list[bytes]:
    shared = {"capture": "capture/*", "reference": "capture/*.pcap*", "sockets": "sockets/*"}
    files = _OF_RUST.glob(shared[name]) if name in shared else SEEDS.glob(f"{name}-*")
    return [file.read_bytes() for file in sorted(files)]


def test_every_reader_has_seeds_that_it_reads(tmp_path: Path) -> None:
    for name, (read, called) in READERS.items():
        assert seeds(name), name
        file = tmp_path / called
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(seeds(name)[0])
        read(file)


@pytest.mark.parametrize("kept", sorted(CRASHED.iterdir()), ids=lambda file: file.name)
def test_what_once_crashed_a_reader_is_refused(tmp_path: Path, kept: Path) -> None:
    read, called = READERS[kept.name.partition("-")[0]]
    assert isinstance(result_of(read, tmp_path / called, kept.read_bytes()), RefusedError)


@pytest.mark.parametrize("name", READERS)
def test_changed_seeds_end_in_a_table_or_one_error(tmp_path: Path, name: str) -> None:
    read, called = READERS[name]

    def check(content: bytes) -> None:
        result = result_of(read, tmp_path / called, content)
        if not isinstance(result, RefusedError):
            assert len(getattr(result, "table", result)) <= len(content)
            assert describe(tmp_path / called)["kind"]

    try_changes(seeds(name), check)
