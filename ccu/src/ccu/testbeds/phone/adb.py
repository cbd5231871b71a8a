# SPDX-License-Identifier: Apache-2.0
"""A phone by Android's own adb program.

The program, and no library that speaks to its server: what runs on the phone for the length of a
run is then a child like all others of the run, watched, logged and ended by the same supervisor.
"""

from __future__ import annotations

import subprocess

from ccu.host import programs
from ccu.testbeds.phone.shell import LOOK_S, Said, answer
from testbed_console.problems import refusal

_TAP = (
    "unlock the phone and tap Allow on `Allow USB debugging?`; if it does not ask: Settings → "
    "Developer options → Revoke USB debugging authorisations, and plug it in again"
)
_MENDS = {
    "unauthorized": _TAP,
    "authorizing": _TAP,
    "offline": "unplug it and plug it in again, or `adb reconnect`",
    "no permissions": "let this user use USB devices (package android-sdk-platform-tools-common), "
    "or be root",
    "recovery": "start Android on it",
    "sideload": "start Android on it",
    "bootloader": "start Android on it",
}


class Adb:
    """One phone, by its serial number or address."""

    is_app = False

    def __init__(self, serial: str) -> None:
        self.serial = serial

    def command(self, script: str) -> list[str]:
        """The command that runs a script of the phone's shell; it ends with the script's code."""
        return [programs.require("adb"), "-s", self.serial, "shell", "-T", script]

    def ask(self, script: str, timeout_s: float = LOOK_S) -> Said:
        """What a short script says. Raises RefusedError if the phone does not answer."""
        try:
            said = answer(self.command(script), timeout_s)
        except subprocess.TimeoutExpired:
            raise refusal(
                f"{self.serial} does not answer", "is it plugged in?", key="testbed"
            ) from None
        if said.returncode and said.stderr.startswith(("error:", "adb:")):
            what = said.stderr.strip().splitlines()[0].removeprefix("error: ")
            raise refusal(f"{self.serial}: {what}", "plug it in again", key="testbed")
        return Said(said.returncode, said.stdout.replace("\r\n", "\n"), said.stderr.strip())


def chosen(serial: str | None) -> Adb:
    """The phone that is meant. Raises RefusedError with what to do if there is none, or not one."""
    phones = _devices()
    if serial is not None:
        if serial not in phones:
            there = ", ".join(phones) or "none"
            raise refusal(
                f"no phone {serial!r}", f"there are {there} (`adb devices`)", key="serial"
            )
        phones = {serial: phones[serial]}
    if not phones:
        raise refusal(
            "adb sees no phone",
            (
                "switch on USB debugging (Settings → About phone → tap Build number seven times; "
                "Developer options → USB debugging) and plug it in, or `adb connect "
                "ADDRESS:PORT`; --no-adb does without"
            ),
            key="testbed",
        )
    usable = [name for name, state in phones.items() if state == "device"]
    if not usable:
        name, state = next(iter(phones.items()))
        mend = next((mend for key, mend in _MENDS.items() if state.startswith(key)), "see `adb`")
        raise refusal(f"{name} is {state}", mend, key="testbed")
    if len(usable) > 1:
        raise refusal(f"{len(usable)} phones", f"say which: {', '.join(usable)}", key="serial")
    return Adb(usable[0])


def _devices() -> dict[str, str]:
    """State by serial number, as `adb devices` tells it; it starts adb's server if need be."""
    adb = programs.require("adb")
    try:
        said = subprocess.run(
            [adb, "devices"], capture_output=True, text=True, timeout=LOOK_S, errors="replace"
        )
    except subprocess.TimeoutExpired:
        raise refusal("adb: does not answer", "`adb kill-server`, and try again") from None
    if said.returncode != 0:
        raise refusal(f"adb: {said.stderr.strip() or 'failed'}", "`adb kill-server`, and try again")
    found = {}
    for line in said.stdout.splitlines():
        serial, tab, state = line.partition("\t")
        if tab and not line.startswith("*"):
            found[serial] = state.strip()
    return found
