# SPDX-License-Identifier: Apache-2.0
"""The radio log, raw/phone/radio.txt: a loop in the phone's shell, over one adb connection."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

from ccu.host.supervisor import Process
from ccu.spec.experiment import Direction
from ccu.testbeds import Site
from ccu.testbeds.phone import polling
from ccu.testbeds.phone.shell import Shell

FILE = "phone/radio.txt"
STAGE = "phone"
PAUSE_S = 0.35
"""The pause after a reading of some 50 ms: 2.5 per second; a radio reports once or twice."""
_SELDOM = 12
"""The period, in readings, of battery, temperature and screen readings: about 5 s."""
_KEPT_LINES = (
    "Phone Id=|mSignalStrength=|mServiceState=|mPhysicalChannelConfigs=|mCellInfo=|"
    "mDataConnectionState=|DataSubId=|mCellIdentity="
)
_PATIENCE_S = 25.0


def script(interface: str) -> str:
    """Return a POSIX script for Android's mksh and toybox. The first reading is the whole dump,
    which alone has the SIMs' subscriptions; the others are the lines that change."""
    reading = f"dumpsys telephony.registry | grep -E '{_KEPT_LINES}'"
    return f"""
i=0
echo "### $(date +%s.%N)"; echo "## subscription"; settings get global multi_sim_data_call
echo "## registry"; dumpsys telephony.registry
{polling.prologue(reading)}
while :; do
  echo "### $(date +%s.%N)"
  echo "## registry"; {reading}
  echo "## net"; grep -E '^ *{interface}:' /proc/net/dev 2>/dev/null || ifconfig {interface}
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
    """Return a script for an app's rights: Termux:API reports the cells; Android denies the
    rest."""
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
    """Start the log and wait for its first reading; return None if the phone has no program for it.

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
        process, lambda: b"## net" in file.read_bytes(), "reading the radio", patience_s=_PATIENCE_S
    )
    return process


_NET = re.compile(r"^\s*[\w.-]+:\s*(\d+(?:\s+\d+){15})\s*$|RX bytes:(\d+).*?TX bytes:(\d+)", re.M)


def crossed_bytes(file: Path, direction: Direction) -> int | None:
    """Return the bytes of the phone's mobile interface between the first and the last reading; None
    where they are not known, as when its counter begins again."""
    counted = []
    for row, received, sent in _NET.findall(file.read_text(errors="replace")):
        numbers = [int(one) for one in row.split()] if row else []
        both = (numbers[0], numbers[8]) if row else (int(received), int(sent))
        counted.append(both[0] if direction == "dl" else both[1])
    if len(counted) < 2 or any(after < before for before, after in pairwise(counted)):
        return None
    return counted[-1] - counted[0]
