# SPDX-License-Identifier: Apache-2.0
"""Whatever a log is made of: a table or one clear error, and never more rows than bytes.

Seeds stand in seeds/logs, by the reader that knows them; what once crashed a reader is kept there.
DDU_FUZZ_EXAMPLES=100000 makes a long run of it (`make fuzz`).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from ddu.align.mac_samples import mac_samples
from ddu.describe import describe
from ddu.errors import UnreadableInput
from ddu.readers.android.drive_test import read_drive_test
from ddu.readers.android.events import events_of
from ddu.readers.android.log import read_phone_log
from ddu.readers.hercules import faults_of_series, read_series, read_wireless
from ddu.readers.iperf3 import read_iperf3
from ddu.readers.oai.mac import read_mac_log
from ddu.readers.oai.o1 import read_o1_log
from ddu.readers.oai.statistics import read_l1_log, read_rrc_log
from ddu.readers.oai.ue import read_ue_log
from ddu.readers.ran_csv import read_ran_csv
from ddu.readers.ss import read_ss
from testsupport.changed_inputs import EXAMPLES, changed

SEEDS = Path(__file__).parent / "seeds" / "logs"


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
}


def seeds(name: str) -> list[bytes]:
    return [file.read_bytes() for file in sorted(SEEDS.glob(f"{name}-*"))]


def test_every_reader_has_seeds_that_it_reads(tmp_path: Path) -> None:
    for name, (read, called) in READERS.items():
        assert seeds(name), name
        (tmp_path / called).write_bytes(seeds(name)[0])
        read(tmp_path / called)


@pytest.mark.parametrize("name", READERS)
def test_changed_seeds_end_in_a_table_or_one_error(tmp_path: Path, name: str) -> None:
    read, called = READERS[name]

    @settings(
        max_examples=EXAMPLES, deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )  # fmt: skip
    @given(changed(seeds(name)))
    def attempt(content: bytes) -> None:
        file = tmp_path / called
        file.write_bytes(content)
        try:
            result = read(file)
        except UnreadableInput:
            return
        table = getattr(result, "table", result)
        assert len(table) <= len(content)
        assert describe(file)["kind"]

    attempt()
