# SPDX-License-Identifier: Apache-2.0
"""The access to a phone by Android's adb program.

The program is used rather than a library that speaks to its server: a command on the phone is then
a child process like all others of the run, watched, logged and ended by the same supervisor.
"""

from __future__ import annotations

import subprocess

from ccu.host import programs
from ccu.testbeds.phone.shell import LOOK_S, ShellAnswer, answer
from ddu.console.problems import refusal

_TAP = (
    "unlock the phone and tap Allow on `Allow USB debugging?`; if it does not ask: Settings → "
    "Developer options → Revoke USB debugging authorisations, and plug it in again"
)
_FIXES = {
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
    """A phone, by its serial number or address."""

    is_app = False

    def __init__(self, serial: str) -> None:
        self.serial = serial

    def command(self, script: str) -> list[str]:
        """Return the command that runs a script in the phone's shell, with the script's exit
        code."""
        return [programs.require("adb"), "-s", self.serial, "shell", "-T", script]

    def ask(self, script: str, timeout_s: float = LOOK_S) -> ShellAnswer:
        """Return the answer of a short script. Raises RefusedError if the phone does not answer."""
        try:
            completed = answer(self.command(script), timeout_s)
        except subprocess.TimeoutExpired:
            raise refusal(
                f"{self.serial} does not answer", "plug it in, and unlock it", key="testbed"
            ) from None
        if completed.returncode and completed.stderr.startswith(("error:", "adb:")):
            what = completed.stderr.strip().splitlines()[0].removeprefix("error: ")
            raise refusal(f"{self.serial}: {what}", "plug it in again", key="testbed")
        return ShellAnswer(completed.returncode, completed.stdout.replace("\r\n", "\n"))


def chosen(serial: str | None) -> Adb:
    """Return the selected phone. Raises RefusedError with a fix unless there is exactly one."""
    phones = _devices()
    if serial is not None:
        if serial not in phones:
            there = ", ".join(phones) or "none"
            raise refusal(
                f"there is no phone {serial!r}",
                f"choose one of: {there} (`adb devices`)",
                key="serial",
            )
        phones = {serial: phones[serial]}
    if not phones:
        raise refusal(
            "adb sees no phone",
            "switch on USB debugging (Settings → About phone → tap Build number seven times; "
            "Developer options → USB debugging) and plug it in, or `adb connect "
            "ADDRESS:PORT`, or choose --no-adb",
            key="testbed",
        )
    usable = [name for name, state in phones.items() if state == "device"]
    if not usable:
        name, state = next(iter(phones.items()))
        fix = next((fix for key, fix in _FIXES.items() if state.startswith(key)), "see `adb`")
        raise refusal(f"{name} is {state}", fix, key="testbed")
    if len(usable) > 1:
        raise refusal(
            f"{len(usable)} phones are connected",
            f"choose one of: {', '.join(usable)}",
            key="serial",
        )
    return Adb(usable[0])


def _devices() -> dict[str, str]:
    """Return the states by serial number of `adb devices`, which starts adb's server if needed."""
    adb = programs.require("adb")
    try:
        completed = subprocess.run(
            [adb, "devices"], capture_output=True, text=True, timeout=LOOK_S, errors="replace"
        )
    except subprocess.TimeoutExpired:
        raise refusal("adb: does not answer", "run `adb kill-server`, and try again") from None
    if completed.returncode != 0:
        raise refusal(
            f"adb: {completed.stderr.strip() or 'failed'}", "run `adb kill-server`, and try again"
        )
    states = {}
    for line in completed.stdout.splitlines():
        serial, tab, state = line.partition("\t")
        if tab and not line.startswith("*"):
            states[serial] = state.strip()
    return states
