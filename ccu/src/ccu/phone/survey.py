# SPDX-License-Identifier: Apache-2.0
"""What the phone is, and whether its traffic would cross the operator's radio."""

from __future__ import annotations

import re
from typing import Any

from ccu.errors import Refused
from ccu.phone.adb import Adb

MOBILE = re.compile(r"^(?:v4-)?(?:rmnet|ccmni|wwan|pdp|seth|clat)")
"""Interfaces of Qualcomm, MediaTek, Linux, Intel, Unisoc and Samsung modems; v4- and clat are
IPv4 over an IPv6-only operator's (464XLAT, RFC 6877)."""
_PROPERTIES = {
    "manufacturer": "ro.product.manufacturer",
    "model": "ro.product.model",
    "android": "ro.build.version.release",
    "build": "ro.build.fingerprint",
    "baseband": "gsm.version.baseband",
    "operator": "gsm.operator.alpha",
    "radio": "gsm.network.type",
}
_DEVICE = re.compile(r"\bdev (\S+)")
_SOURCE = re.compile(r"\bsrc (\S+)")
_LIMIT = re.compile(r"\blimitBytes=(-?\d+)")


def describe(phone: Adb) -> dict[str, Any]:
    """Model, Android, baseband, operator and who limits a flow from it; null what is not told."""
    lines = [f"getprop {name}" for name in _PROPERTIES.values()]
    lines.append("cat /proc/sys/net/ipv4/tcp_congestion_control 2>/dev/null || echo")
    lines.append("id -u")
    said = phone.ask("; ".join(lines)).text.splitlines() + [""] * len(lines)
    found: dict[str, Any] = {
        name: value.strip() or None for name, value in zip(_PROPERTIES, said, strict=False)
    }
    uplink_cc = said[len(_PROPERTIES)].strip()
    found["congestion_control"] = uplink_cc if re.fullmatch(r"[\w-]{1,15}", uplink_cc) else None
    found["is_root"] = said[len(_PROPERTIES) + 1].strip() == "0"
    return found


def check_radio(phone: Adb, address: str) -> dict[str, Any]:
    """The mobile interface by which the phone would reach `address`, and its own address there.

    Raises Refused for airplane mode, no SIM or no data, and a way over Wi-Fi, with what to do.
    """
    said = phone.ask(
        "settings get global airplane_mode_on; settings get global mobile_data; "
        f"getprop gsm.sim.state; ip route get {address} 2>&1"
    ).text.splitlines()
    airplane, data, sim, *route = [line.strip() for line in said] + [""] * 4
    if airplane == "1":
        raise Refused("--testbed phone: the phone is in airplane mode; switch it off")
    if sim and not re.search(r"LOADED|READY", sim):
        raise Refused(f"--testbed phone: the SIM is {sim}; put one in, and unlock it with its PIN")
    way = " ".join(route)
    device = _DEVICE.search(way)
    if device and not MOBILE.match(device[1]):
        raise Refused(
            f"--testbed phone: the phone would reach {address} by {device[1]}, not by its radio; "
            "switch Wi-Fi off (adb shell svc wifi disable), and tethering and VPN"
        )
    if not device:
        why = "mobile data is switched off" if data == "0" else "its SIM has no data connection"
        raise Refused(
            f"--testbed phone: the phone has no way to {address}: {why}; open a web page on it "
            "over mobile data first"
        )
    source = _SOURCE.search(way)
    return {"interface": device[1], "address": source[1] if source else None}


def check_volume(phone: Adb, most_bytes: int) -> None:
    """Raises Refused if the phone's own data limit is below what a run may use."""
    said = phone.ask("dumpsys netpolicy 2>/dev/null | grep -o 'limitBytes=[-0-9]*'").text
    limits = [int(value) for value in _LIMIT.findall(said)]
    for limit in limits:
        if 0 <= limit < most_bytes:
            raise Refused(
                f"--max-bytes: {most_bytes} is more than the phone's data limit of {limit} bytes; "
                "lower it, or raise the limit (Settings → Network → Data warning & limit)"
            )
