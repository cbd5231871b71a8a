# SPDX-License-Identifier: Apache-2.0
"""The phone itself: interface counters, battery, temperatures, screen.

Sources: proc(5) for /proc/net/dev; `dumpsys battery` (temperature in tenths of a degree Celsius);
`dumpsys thermalservice`, android.os.Temperature (type 3 is the skin, 0 a CPU); `dumpsys power`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ddu.readers.android.termux import battery_of as termux_battery_of
from ddu.readers.android.termux import cells_of
from ddu.readers.fields import Values, number

_INTERFACE = re.compile(r"^\s*([\w.-]+):\s*(.+)$")
_COUNTERS = 16
_SENT_AT = 8
_IFCONFIG = re.compile(r"RX bytes:(\d+).*?TX bytes:(\d+)")
_BATTERY = {
    "level": ("phone_battery_ratio", 0.01, 0.0, 1.0),
    "temperature": ("phone_battery_temperature_c", 0.1, -60.0, 150.0),
}
_TEMPERATURE = re.compile(
    r"Temperature\{\s*mValue=(-?[\d.]+|NaN),\s*mType=(-?\d+),\s*mName=([^,}]*)"
)
_THERMAL_STATUS = re.compile(r"^\s*Thermal Status:\s*(\d+)", re.MULTILINE)
_CURRENT = "Current temperatures from HAL:"
_NAMES = {0: "phone_cpu_temperature_c", 3: "phone_skin_temperature_c"}
_TIMES = re.compile(r"(\d+)m(\d+\.\d+)s")
_TICKS_A_SECOND = 100
_AWAKE = re.compile(r"mWakefulness=(\w+)")


def net_of(text: str) -> Values:
    """Return the bytes that crossed the interface, in both directions, since the phone made it."""
    for line in text.splitlines():
        match = _INTERFACE.match(line)
        numbers = match[2].split() if match else []
        if len(numbers) == _COUNTERS and all(one.isdigit() for one in numbers):
            received, sent = int(numbers[0]), int(numbers[_SENT_AT])
            return {"mac_dl_sdu_bytes": received, "mac_ul_sdu_bytes": sent}
    if match := _IFCONFIG.search(text):  # where /proc/net/dev may not be read
        return {"mac_dl_sdu_bytes": int(match[1]), "mac_ul_sdu_bytes": int(match[2])}
    return {}


def battery_of(text: str) -> Values:
    values: Values = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        known = _BATTERY.get(name.strip())
        if colon and known:
            column, scale, least, greatest = known
            measured = number(value)
            if measured is not None and least <= measured * scale <= greatest:
                values.setdefault(column, measured * scale)
    return values


def thermal_of(text: str) -> Values:
    """Return the hottest of each type, by the last report of the hardware."""
    values: Values = {}
    if match := _THERMAL_STATUS.search(text):
        values["phone_thermal_status"] = int(match[1])
    current = text.partition(_CURRENT)[2] or text
    current = current.partition("\nCurrent cooling")[0]
    for value, kind, _ in _TEMPERATURE.findall(current):
        column = _NAMES.get(int(kind))
        celsius = number(value)
        if column and celsius is not None and -60 < celsius < 150:
            known = values.get(column)
            values[column] = celsius if known is None else max(float(str(known)), celsius)
    return values


def power_of(text: str) -> Values:
    match = _AWAKE.search(text)
    return {"phone_screen_on": int(match[1] == "Awake")} if match else {}


def cpu_of(text: str) -> Values:
    """`times` of the shell that reads all this: user and system, its own and its children's."""
    spent = [float(minutes) * 60 + float(seconds) for minutes, seconds in _TIMES.findall(text)]
    return {"phone_log_cpu_s": sum(spent)} if len(spent) == 4 else {}


def services_of(text: str) -> Values:
    """CPU time of Android's services that answer us, for whatever reason (proc(5), stat): fields
    14 and 15, in ticks of 10 ms."""
    ticks = [
        int(fields[11]) + int(fields[12])
        for line in text.splitlines()
        if len(fields := line.rpartition(")")[2].split()) > 12
        and fields[11].isdigit()
        and fields[12].isdigit()
    ]
    return {"phone_services_cpu_s": sum(ticks) / _TICKS_A_SECOND} if ticks else {}


SECTIONS: dict[str, Callable[[str], Values]] = {
    "net": net_of,
    "battery": battery_of,
    "thermal": thermal_of,
    "power": power_of,
    "cpu": cpu_of,
    "services": services_of,
    "termux_cells": cells_of,
    "termux_battery": termux_battery_of,
}
"""The readers of the sections of raw/phone/radio.txt beside the registry."""
