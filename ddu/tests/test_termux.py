# SPDX-License-Identifier: Apache-2.0
"""The output of Termux:API becomes the same columns as Android's own dumps."""

from __future__ import annotations

import json

import pytest

from ddu.readers.android.state import services_of
from ddu.readers.android.termux import battery_of, cells_of

NR = {"type": "nr", "registered": True, "pci": 77, "bands": [78], "ss_rsrp": -71, "ss_rsrq": -11,
      "ss_sinr": 19, "csi_rsrp": 2147483647}  # fmt: skip
LTE = {"type": "lte", "registered": True, "pci": 101, "bands": [3], "rsrp": -95, "rsrq": -10,
       "rssi": -60}  # fmt: skip
OF_NR = {"mac_rsrp_dbm": -71, "mac_rsrq_db": -11, "mac_sinr_db": 19, "mac_pci": 77, "mac_band": 78}
OF_LTE = {"mac_rsrp_dbm": -95, "mac_rsrq_db": -10, "mac_pci": 101, "mac_band": 3}


@pytest.mark.parametrize(
    ("cells", "technology", "serving"),
    [
        ([NR, LTE | {"registered": False}], 3, OF_NR),
        ([LTE, NR], 2, OF_NR),
        ([LTE], 1, OF_LTE),
        ([LTE, NR | {"registered": False}], None, OF_LTE),
        ([{"type": "gsm", "registered": True, "dbm": -80}], 0, {}),
    ],
)
def test_the_cell_that_serves(
    cells: list[object], technology: int | None, serving: dict[str, int]
) -> None:
    values = cells_of(json.dumps(cells))
    assert values.get("mac_technology") == technology
    plain = {name: values[name] for name in OF_NR if name in values}
    assert plain == serving
    assert "mac_nr_csi_rsrp_dbm" not in values


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", "[1]", "[", "Call to API failed"])
def test_what_tells_no_cell(text: str) -> None:
    assert cells_of(text) == {}


def test_a_neighbours_level_stays_its_own() -> None:
    values = cells_of(json.dumps([LTE, NR | {"registered": False}]))
    assert values["mac_nr_rsrp_dbm"] == -71


def test_the_battery() -> None:
    values = battery_of('{"percentage": 90, "temperature": 30.1, "health": "GOOD"}')
    assert values == {"phone_battery_ratio": 0.9, "phone_battery_temperature_c": 30.1}
    assert battery_of("[]") == battery_of("{") == {}


def test_the_services_time() -> None:
    """proc(5): the name may hold blanks and brackets; utime and stime are fields 14 and 15."""
    stat = "{} ({}) S 1 1 0 0 -1 4 5 0 0 0 {} {} 0 0 20 0 1 0 9 0 0\n"
    text = stat.format(1234, "system_server", 250, 50) + stat.format(99, "a) (b 7", 7, 3)
    assert services_of(text) == {"phone_services_cpu_s": 3.1}
    assert services_of("") == services_of("cat: denied\n") == {}
