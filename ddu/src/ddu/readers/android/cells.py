# SPDX-License-Identifier: Apache-2.0
"""Technology and cell: what `mServiceState`, `mPhysicalChannelConfigs` and `mCellInfo` state.

Source: ServiceState, NetworkRegistrationInfo, PhysicalChannelConfig, CellInfo of android.telephony,
Android 9 to 16. Identities may be redacted (`****`, `1***0`) or null: such a one is unknown.
"""

from __future__ import annotations

import re

from ddu.readers.android.braces import all_inside, inside, items
from ddu.readers.android.signal import pairs_of, whole
from ddu.readers.fields import Values

NONE, LTE, NSA, SA = 0, 1, 2, 3
"""mac_technology: nothing of these; LTE alone; LTE with NR as second (EN-DC); NR alone."""
TECHNOLOGIES = {NONE: "none", LTE: "lte", NSA: "nsa", SA: "sa"}

_DATA_TECHNOLOGY = re.compile(r"[rR]ilDataRadioTechnology=(\d+)")
_UNKNOWN, _RIL_LTE, _RIL_LTE_CA, _RIL_NR = 0, 14, 19, 20
_DATA_STATE = re.compile(r"mDataRegState=(\d)")
_MOST_PCI = {"NR": 1007, "LTE": 503}
_CONNECTED = ("PrimaryServing", "1")
_CELL_INFO = {"NR": "CellIdentityNr", "LTE": "CellIdentityLte"}


def service_of(text: str) -> Values:
    """Return technology and data registration by the content of `mServiceState={…}`."""
    values: Values = {}
    if match := _DATA_STATE.search(text):
        values["mac_in_sync"] = int(match[1] == "0")
    if values.get("mac_in_sync") == 0:
        values["mac_technology"] = NONE
        return values
    registration = _packet_registration(text)
    access = registration.get("accessNetworkTechnology")
    match = _DATA_TECHNOLOGY.search(text)
    ril = int(match[1]) if match else None
    if ril == _RIL_NR or access in ("NR", "NR_SA"):
        values["mac_technology"] = SA
    elif ril in (_RIL_LTE, _RIL_LTE_CA) or access in ("LTE", "LTE_CA"):
        technology = _lte_or_nsa(registration)
        if technology is not None:
            values["mac_technology"] = technology
    elif ril == _UNKNOWN and access in (None, "UNKNOWN"):
        values["mac_technology"] = NONE
    return values


def _lte_or_nsa(registration: dict[str, str]) -> int | None:
    """Return LTE or NSA; None if the phone redacts whether NR is connected."""
    state = registration.get("nrState") or registration.get("nrStatus")
    if state is None or state in ("NONE", "RESTRICTED", "NOT_RESTRICTED"):
        return LTE
    return NSA if state == "CONNECTED" else None


def _packet_registration(text: str) -> dict[str, str]:
    """Return the registration for data over the operator's radio; the last one is in force."""
    registration: dict[str, str] = {}
    for name in ("NetworkRegistrationInfo", "NetworkRegistrationState"):
        for content in all_inside(text, name):
            pairs = pairs_of(content)
            packet = pairs.get("domain") in ("PS", "CS_PS", "2")
            if packet and pairs.get("transportType") in ("WWAN", "1"):
                registration = pairs
    return registration


def cell_of(registry: str, technology: int | None) -> Values:
    """Return the serving cell in the block of one SIM: PCI, band, ARFCN, carriers and their width.

    The user plane's: NR's with SA and NSA, else LTE's.
    """
    channels = inside(registry, "mPhysicalChannelConfigs")
    configs = [pairs_of(item) for item in items(channels)] if channels else []
    wanted = {SA: ("NR",), NSA: ("NR", "LTE"), LTE: ("LTE",), NONE: ()}
    values = _bandwidth(configs)
    for kind in wanted.get(technology if technology is not None else -1, ("NR", "LTE")):
        cell = _of_channels(configs, kind) or _of_info(registry, kind)
        if cell:
            return values | cell
    return values


def has_nr_channel(registry: str) -> bool:
    """Whether a physical channel of NR is configured."""
    channels = inside(registry, "mPhysicalChannelConfigs")
    return channels is not None and any(
        pairs_of(item).get("mNetworkType", "").startswith("NR") for item in items(channels)
    )


def _of_channels(configs: list[dict[str, str]], kind: str) -> Values:
    own = [one for one in configs if one.get("mNetworkType", "").startswith(kind)]
    if not own and kind == "LTE":  # Android 9 and 10 do not say the technology.
        own = [one for one in configs if "mNetworkType" not in one and "mRat" not in one]
    for one in own:
        state = one.get("mConnectionStatus") or one.get("mCellConnectionStatus")
        if state in _CONNECTED or len(own) == 1 or kind == "NR":
            pci = whole(one.get("mPhysicalCellId"))
            arfcn = whole(one.get("mDownlinkChannelNumber") or one.get("mChannelNumber"))
            return _cell(kind, pci, whole(one.get("mBand")), arfcn)
    return {}


def _of_info(registry: str, kind: str) -> Values:
    """Return the registered cell of `mCellInfo`; else the identity in the registration itself."""
    for info in all_inside(registry, f"CellInfo{kind.title() if kind == 'LTE' else 'Nr'}"):
        if re.search(r"mRegistered\s*=\s*YES", info):
            return _identity(kind, inside(info, _CELL_INFO[kind]))
    return _identity(kind, inside(registry, _CELL_INFO[kind]))


def _identity(kind: str, text: str | None) -> Values:
    if text is None:
        return {}
    pairs = pairs_of(text)
    bands = re.findall(r"\d+", pairs.get("mBands", ""))
    arfcn = whole(pairs.get("mNrArfcn") or pairs.get("mEarfcn"))
    return _cell(kind, whole(pairs.get("mPci")), whole(bands[0]) if bands else None, arfcn)


def _cell(kind: str, pci: int | None, band: int | None, arfcn: int | None) -> Values:
    values: Values = {}
    if pci is not None and 0 <= pci <= _MOST_PCI[kind]:
        values["mac_pci"] = pci
    if band is not None and band > 0:
        values["mac_band"] = band
    if arfcn is not None and arfcn > 0:
        values["mac_arfcn"] = arfcn
    return values


def cell_values(kind: str, pci: str | None, bands: str | None) -> Values:
    """Return PCI and first band of a cell ("NR" or "LTE") given as text."""
    numbers = re.findall(r"\d+", bands or "")
    return _cell(kind, whole(pci), whole(numbers[0]) if numbers else None, None)


def _bandwidth(configs: list[dict[str, str]]) -> Values:
    widths = [whole(one.get("mCellBandwidthDownlinkKhz")) for one in configs]
    known = [width for width in widths if width is not None and width > 0]
    if not known:
        return {}
    return {"mac_dl_bandwidth_khz": sum(known), "mac_dl_carriers": len(known)}
