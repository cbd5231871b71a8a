# SPDX-License-Identifier: Apache-2.0
"""The phone's properties, and the check that its traffic would cross the operator's radio."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ccu.testbeds.phone.address import Address, reached
from ccu.testbeds.phone.shell import Shell
from ddu.console.problems import refusal

MOBILE = re.compile(r"^(?:v4-)?(?:rmnet|ccmni|wwan|pdp|seth|clat)")
"""The interfaces of Qualcomm, MediaTek, Linux, Intel, Unisoc and Samsung modems; v4- and clat are
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
_WIFI = "termux-wifi-connectioninfo 2>/dev/null"
_WIFI_ON = re.compile(r'"supplicant_state":\s*"COMPLETED"')
_FORBIDDEN = re.compile(r"[Pp]ermission denied|[Cc]annot|not found|inaccessible")
_IPERF3 = ("iperf3", "/data/local/tmp/iperf3", "/data/data/com.termux/files/usr/bin/iperf3")
"""The usual places: on PATH, pushed by adb, Termux's (which adb may use with root only)."""
_DEVICE = re.compile(r"\bdev (\S+)")
_SOURCE = re.compile(r"\bsrc (\S+)")


def describe(phone: Shell) -> dict[str, Any]:
    """Return model, Android version, baseband, operator and further properties; null if unknown."""
    lines = [f"getprop {name}" for name in _PROPERTIES.values()]
    lines.append("cat /proc/sys/net/ipv4/tcp_congestion_control 2>/dev/null || echo")
    lines.append("id -u")
    lines.append(f"(for p in {' '.join(_IPERF3)}; do command -v $p && break; done) || echo")
    values = phone.ask("; ".join(lines)).text.splitlines() + [""] * len(lines)
    properties: dict[str, Any] = {
        name: value.strip() or None for name, value in zip(_PROPERTIES, values, strict=False)
    }
    uplink_cc = values[len(_PROPERTIES)].strip()
    properties["congestion_control"] = (
        uplink_cc if re.fullmatch(r"[\w-]{1,15}", uplink_cc) else None
    )
    properties["iperf3"] = values[len(_PROPERTIES) + 2].strip() or None
    properties["is_root"] = values[len(_PROPERTIES) + 1].strip() == "0"
    return properties


def check_radio(phone: Shell, address: str) -> dict[str, Any]:
    """Return the mobile interface by which the phone would reach `address`, and its address there.

    Raises RefusedError with a fix for airplane mode, no SIM, no data, or a route over Wi-Fi.
    """
    lines = phone.ask(
        'echo "$(settings get global airplane_mode_on 2>/dev/null | head -n 1)"; '
        'echo "$(settings get global mobile_data 2>/dev/null | head -n 1)"; '
        'echo "$(getprop gsm.sim.state 2>/dev/null | head -n 1)"; '
        f"ip route get {address} 2>&1; {_WIFI if phone.is_app else ''}"
    ).text.splitlines()
    airplane, data, sim, *route = [line.strip() for line in lines] + [""] * 4
    if airplane == "1":
        raise refusal("the phone is in airplane mode", "switch it off", key="testbed")
    if sim and not re.search(r"LOADED|READY", sim):
        raise refusal(f"the SIM is {sim}", "put one in, and unlock it with its PIN", key="testbed")
    route_text = " ".join(route)
    device = _DEVICE.search(route_text)
    if device and not MOBILE.match(device[1]):
        raise refusal(
            f"the phone would reach {address} by {device[1]}, not by its radio",
            "switch Wi-Fi off (adb shell svc wifi disable), and tethering and VPN",
            key="testbed",
        )
    if phone.is_app and not device and _FORBIDDEN.search(route_text):
        return _by_an_app(route_text)
    if not device:
        why = "mobile data is switched off" if data == "0" else "its SIM has no data connection"
        raise refusal(
            f"the phone has no route to {address}: {why}",
            "open a web page on it over mobile data first",
            key="testbed",
        )
    source = _SOURCE.search(route_text)
    return {"interface": device[1], "address": source[1] if source else None}


def check_load(phone: Shell, load: str) -> None:
    """Raise RefusedError if the phone lacks the traffic program."""
    if load == "iperf3" and describe(phone)["iperf3"] is None:
        raise refusal(
            "the phone has no executable iperf3",
            f"`pkg install iperf3` in Termux, or push one to {_IPERF3[1]} (chmod 755); or "
            "leave it out to use nc",
            key="phone_load",
        )


def _by_an_app(answer: str) -> dict[str, Any]:
    """Check Wi-Fi only, as an app has no access to routes."""
    if _WIFI_ON.search(answer):
        raise refusal(
            "the phone uses Wi-Fi, and its traffic would go there",
            "switch Wi-Fi off, and connect ssh by another route (docs/phone.md, Termux)",
            key="testbed",
        )
    return {"interface": None, "address": None}


def first_reachable(phone: Shell, servers: Sequence[Address]) -> tuple[Address, dict[str, Any]]:
    """Return the first of the server's addresses that the phone's radio reaches, and the result of
    `check_radio`. Raises RefusedError as that does."""
    return reached(servers, lambda one: check_radio(phone, one))
