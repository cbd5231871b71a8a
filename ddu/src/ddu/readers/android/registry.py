# SPDX-License-Identifier: Apache-2.0
"""`dumpsys telephony.registry`: one block a SIM, of which the one that carries the data counts."""

from __future__ import annotations

import re

from ddu.readers.android import cells
from ddu.readers.android.braces import inside
from ddu.readers.android.signal import signal_of
from ddu.readers.fields import Values

_BLOCK = re.compile(r"^\s*(?:mPhoneId|Phone Id)\s*=\s*(\d+)\s*$")
_END_OF_BLOCKS = re.compile(r"^\s*(?:local logs|registrations)\b")
_SUBSCRIPTION_OF_PHONE = (
    re.compile(r"\bsubId=(\d+)\s+phoneId=(\d+)"),
    re.compile(r"\bphoneId=(\d+)\s+subId=(\d+)"),
)
_DATA_SUBSCRIPTION = re.compile(r"\b(?:mActiveDataSubId|mPreferredDataSubId)\s*=\s*(\d+)")
_DATA_STATE = re.compile(r"^\s*mDataConnectionState\s*=\s*(\d+)")
_DATA_CONNECTED = "2"  # android.telephony.TelephonyManager.DATA_CONNECTED
_TOKENS = ("mSignalStrength", "mServiceState", "mCellInfo", "mPhysicalChannelConfigs", "Phone Id")


class Subscriptions:
    """The subscription of each SIM, and which of them carries data; a dump may state it once and
    later dumps of the same phone not again."""

    def __init__(self) -> None:
        self._phone_of: dict[int, int] = {}
        self._data: int | None = None

    def note(self, text: str) -> None:
        for number, pattern in enumerate(_SUBSCRIPTION_OF_PHONE):
            for first, second in pattern.findall(text):
                subscription, phone = (first, second) if number == 0 else (second, first)
                self._phone_of[int(subscription)] = int(phone)
        for digit in _DATA_SUBSCRIPTION.findall(text):
            self._data = int(digit)

    def of_user(self, subscription: int) -> None:
        """Take in the subscription for data of the phone's settings."""
        self._data = subscription

    def data_phone(self) -> int | None:
        return None if self._data is None else self._phone_of.get(self._data)


def is_registry(text: str) -> bool:
    """Return whether the text looks like this dump."""
    return any(f"{token}=" in text.replace(" =", "=") for token in _TOKENS)


def registry_of(text: str, known: Subscriptions) -> tuple[Values, str]:
    """Return the columns of the SIM that carries data, and as text what has no column."""
    known.note(text)
    block = _chosen(_blocks(text), known)
    values: Values = {}
    extra = ""
    if (service := inside(block, "mServiceState")) is not None:
        values |= cells.service_of(service)
    if (signal := _signal_in(block)) is not None:
        values |= signal[0]
        extra = signal[1]
    if values.get("mac_technology") in (None, cells.LTE) and cells.has_nr_channel(block):
        values["mac_technology"] = cells.NSA
    technology = values.get("mac_technology")
    values |= cells.cell_of(block, technology if isinstance(technology, int) else None)
    return values | serving(values), extra


def data_phone_in(text: str, known: Subscriptions) -> int:
    """Return the number of the SIM that carries data, as `registry_of` chooses it."""
    known.note(text)
    blocks = _blocks(text)
    block = _chosen(blocks, known)
    return next(phone for phone, own in blocks.items() if own is block)


def serving(values: Values) -> Values:
    """Return RSRP, RSRQ, SINR and CQI of the cell that carries the user's data, where known."""
    technology = values.get("mac_technology")
    if technology == cells.NONE:
        return {}
    kinds = ("lte",) if technology == cells.LTE else ("nr", "lte")
    if technology == cells.SA:
        kinds = ("nr",)
    for kind in kinds:
        if f"mac_{kind}_rsrp_dbm" in values:
            named = {"rsrp_dbm", "rsrq_db", "sinr_db", "cqi"}
            return {
                f"mac_{name}": values[f"mac_{kind}_{name}"]
                for name in sorted(named)
                if f"mac_{kind}_{name}" in values
            }
    return {}


def _blocks(text: str) -> dict[int, str]:
    blocks: dict[int, list[str]] = {}
    current: list[str] | None = None
    for line in text.splitlines():
        if match := _BLOCK.match(line):
            current = blocks.setdefault(int(match[1]), [])
        elif _END_OF_BLOCKS.match(line):
            current = None
        elif current is not None:
            current.append(line)
    return {phone: "\n".join(lines) for phone, lines in blocks.items()} or {0: text}


def _chosen(blocks: dict[int, str], known: Subscriptions) -> str:
    phone = known.data_phone()
    if phone in blocks:
        return blocks[phone]
    connected = [
        block
        for block in blocks.values()
        if any(
            match[1] == _DATA_CONNECTED
            for line in block.splitlines()
            if (match := _DATA_STATE.match(line))
        )
    ]
    if len(connected) == 1:
        return connected[0]
    # Unknown: the first that measures anything, as a phone with one SIM has it.
    measuring = (one for one in blocks.values() if (signal := _signal_in(one)) and signal[0])
    return next(measuring, next(iter(blocks.values())))


def _signal_in(block: str) -> tuple[Values, str] | None:
    return signal_of(next((one for one in block.splitlines() if "SignalStrength:{" in one), ""))
