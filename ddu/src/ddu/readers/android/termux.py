# SPDX-License-Identifier: Apache-2.0
"""Cells and battery as Termux:API reports them, as JSON.

Source: termux-api, TelephonyAPI.java (getAllCellInfo of android.telephony) and
BatteryStatusAPI.java. A value that the phone does not know is left out there, or 2147483647.
"""

from __future__ import annotations

from ddu.console.input_file import parsed_json
from ddu.readers.android.cells import LTE, NONE, NSA, SA, cell_values
from ddu.readers.android.registry import serving
from ddu.readers.android.signal import lte_levels, nr_levels
from ddu.readers.fields import Values

_NR_NAMES = {
    "ss_rsrp": "ssRsrp", "ss_rsrq": "ssRsrq", "ss_sinr": "ssSinr",
    "csi_rsrp": "csiRsrp", "csi_rsrq": "csiRsrq", "csi_sinr": "csiSinr",
}  # fmt: skip


def cells_of(text: str) -> Values:
    """Return technology, levels and serving cell of `termux-telephony-cellinfo`.

    LTE beside an NR cell that is not registered may be NSA or a neighbour: technology is then
    unknown.
    """
    try:
        content = parsed_json(text)
    except ValueError:
        return {}
    if not isinstance(content, list):
        return {}
    cells = [one for one in content if isinstance(one, dict)]
    if not cells:
        return {}
    nr, lte = _of_type(cells, "nr"), _of_type(cells, "lte")
    values: Values = {}
    if nr:
        values |= nr_levels({_NR_NAMES.get(name, name): value for name, value in nr.items()})
    if lte:
        values |= lte_levels(lte)
    technology = _technology(cells)
    if technology is not None:
        values |= {"mac_technology": technology, "mac_in_sync": int(technology != NONE)}
    # What is registered is used; NR that may be a neighbour's is not.
    used = technology if technology is not None else LTE
    kind, cell = ("LTE", lte) if used == LTE else ("NR", nr)
    if cell and used != NONE:
        values |= cell_values(kind, cell.get("pci"), cell.get("bands"))
    return values | serving(values | {"mac_technology": used})


def _of_type(cells: list[dict[str, object]], kind: str) -> dict[str, str]:
    """Return the registered cell of a technology, or the only NR cell though not registered."""
    own = [one for one in cells if one.get("type") == kind]
    registered = [one for one in own if one.get("registered") is True]
    if not registered and not (kind == "nr" and len(own) == 1):
        return {}
    return {name: str(value) for name, value in (registered or own)[0].items()}


def _technology(cells: list[dict[str, object]]) -> int | None:
    registered = {one.get("type") for one in cells if one.get("registered") is True}
    there = {one.get("type") for one in cells}
    if "nr" in registered:
        return NSA if "lte" in registered else SA
    if "lte" in registered:
        return None if "nr" in there else LTE
    return NONE


def battery_of(text: str) -> Values:
    """Return charge and temperature of `termux-battery-status`."""
    try:
        content = parsed_json(text)
    except ValueError:
        return {}
    values: Values = {}
    if isinstance(content, dict):
        charge, celsius = content.get("percentage"), content.get("temperature")
        if isinstance(charge, (int, float)) and 0 <= charge <= 100:
            values["phone_battery_ratio"] = charge / 100
        if isinstance(celsius, (int, float)) and -60 < celsius < 150:
            values["phone_battery_temperature_c"] = float(celsius)
    return values
