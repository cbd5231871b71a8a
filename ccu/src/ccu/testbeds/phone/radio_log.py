# SPDX-License-Identifier: Apache-2.0
"""raw/phone/radio.txt: one loop of the phone's own shell, and so one adb connection for it all."""

from __future__ import annotations

import re
from pathlib import Path

from ccu.host.supervisor import Process
from ccu.spec.experiment import Direction
from ccu.testbeds import Site
from ccu.testbeds.phone import polling
from ccu.testbeds.phone.shell import Shell

FILE = "phone/radio.txt"
STAGE = "phone"
PAUSE_S = 0.35
"""A reading takes some 50 ms: 2.5 a second, where a phone's radio tells news once or twice."""
_SELDOM = 12
"""Every so many readings battery, temperatures and screen are asked, too: about each 5 s."""
_KEPT_LINES = (
    "Phone Id=|mSignalStrength=|mServiceState=|mPhysicalChannelConfigs=|mCellInfo=|"
    "mDataConnectionState=|DataSubId=|mCellIdentity="
)
_PATIENCE_S = 25.0


def script(interface: str) -> str:
    """POSIX shell, as Android's mksh and toybox have it. The first reading is the whole dump, since
    it alone tells which SIM has which subscription; the others are the lines that change."""
    reading = f"dumpsys telephony.registry | grep -E '{_KEPT_LINES}'"
    return f"""
i=0
echo "### $(date +%s.%N)"; echo "## subscription"; settings get global multi_sim_data_call
echo "## registry"; dumpsys telephony.registry
{polling.prologue(reading)}
while :; do
  echo "### $(date +%s.%N)"
  echo "## registry"; {reading}
  echo "## net"; grep -F '{interface}:' /proc/net/dev 2>/dev/null || ifconfig {interface}
  if [ $((i % {_SELDOM})) -eq 0 ]; then
    echo "## battery"; dumpsys battery
    echo "## thermal"; dumpsys thermalservice
    echo "## power"; dumpsys power | grep mWakefulness=
    echo "## cpu"; times
    echo "## services"; {polling.read_services()}
  fi
  i=$((i+1))
  sleep {PAUSE_S}
done
"""


def termux_script(interface: str | None) -> str:
    """With an app's rights: Termux:API tells the cells, and Android keeps most of the rest."""
    net = f"ifconfig {interface} 2>/dev/null" if interface else ":"
    return f"""
i=0
while :; do
  echo "### $(date +%s.%N)"
  echo "## termux_cells"; termux-telephony-cellinfo
  echo "## net"; {net}
  if [ $((i % {_SELDOM})) -eq 0 ]; then
    echo "## termux_battery"; termux-battery-status
    echo "## cpu"; times
  fi
  i=$((i+1))
  sleep {PAUSE_S}
done
"""


def start(site: Site, phone: Shell, interface: str | None) -> Process | None:
    """The log, with its first reading there; None where the phone has nothing to read it by.

    Raises RunFailed.
    """
    written = script(interface or "lo")
    if phone.is_app:
        if phone.ask("command -v termux-telephony-cellinfo").code != 0:
            return None
        written = termux_script(interface)
    file = site.raw / FILE
    file.parent.mkdir(exist_ok=True)
    process = site.supervisor.start("phone-radio", phone.command(written), stage=STAGE, output=file)
    site.supervisor.wait_for(
        process, lambda: _has_reading(file), "reading the radio", patience_s=_PATIENCE_S
    )
    return process


def _has_reading(file: Path) -> bool:
    return file.read_bytes().count(b"## net") > 0


_NET = re.compile(r"^\s*[\w.-]+:\s*(\d+(?:\s+\d+){15})\s*$|RX bytes:(\d+).*?TX bytes:(\d+)", re.M)


def crossed_bytes(file: Path, direction: Direction) -> int | None:
    """What the phone's mobile interface counted from the first reading to the last."""
    counted = []
    for row, received, sent in _NET.findall(file.read_text(errors="replace")):
        numbers = [int(one) for one in row.split()] if row else []
        both = (numbers[0], numbers[8]) if row else (int(received), int(sent))
        counted.append(both[0] if direction == "dl" else both[1])
    return counted[-1] - counted[0] if len(counted) > 1 else None


def end(site: Site, process: Process) -> None:
    """Ends the loop after the reading that is under way."""
    site.supervisor.stop(process)
