# SPDX-License-Identifier: Apache-2.0
"""The instructions for a user of a phone without adb: open a page, or type a line."""

from __future__ import annotations

import io
from collections.abc import Sequence

from ccu.testbeds.phone.flow import PhoneFlow
from ddu.console.authority import authority


def url(flow: PhoneFlow, token: str) -> str:
    """Return the address for a browser's download."""
    return f"http://{authority(flow.reached_at, flow.port)}/{token}"


def instructions(flow: PhoneFlow, token: str) -> str:
    """Return the instructions of one flow: an address to open and a line to type, on the phone."""
    if flow.direction == "dl":
        line = f"(echo {token}; sleep {flow.duration_s + 1}) | nc {flow.reached_at} {flow.port}"
        steps = [f"open {url(flow, token)}", f"or type (Termux): {line} > /dev/null"]
        return "\n".join([f"{flow.id}, downlink: on the phone, with Wi-Fi off,", *steps])
    line = f"(echo {token}; cat /dev/zero) | nc {flow.reached_at} {flow.port}"
    return f"{flow.id}, uplink: on the phone, with Wi-Fi off, type (Termux): {line}"


def qr_code(text: str) -> str:
    """Return a QR code in half-block characters."""
    import segno

    drawn = io.StringIO()
    segno.make(text, error="m").terminal(drawn, compact=True)
    return drawn.getvalue()


def show(flows: Sequence[PhoneFlow], token: str) -> None:
    for flow in flows:
        print(instructions(flow, token))
        if flow.direction == "dl":
            print(qr_code(url(flow, token)), flush=True)
