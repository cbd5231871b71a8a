# SPDX-License-Identifier: Apache-2.0
"""Android's bugreport, as `adb bugreport` and the developer options make it: a zip or its text.

Three parts of its text, which may have hundreds of MB, describe the radio with a time:

- `DUMP OF SERVICE telephony.registry:`, the state at the end of that dump (`ending at: …`);
- within it the history of what was notified (`2026-11-21T20:48:01.123 - notifyServiceState…`);
- the log buffers (`logcat -v threadtime`: month, day and time), where the phone's process and the
  modem's interface print service states, signal strengths and physical channels as they change.

All of them are the phone's local time, whose zone stands among the system properties. Sources:
AOSP frameworks/native/cmds/dumpstate and dumpsys, TelephonyRegistry, LocalLog, logcat(1).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import timedelta, tzinfo
from pathlib import Path

from ddu.errors import UnreadableInput
from ddu.readers.android.braces import inside
from ddu.readers.android.bugreport_text import HEADER, blocks
from ddu.readers.timestamps import DAY_NS, EPOCH, local_ns, zone_named

_MOST_LINES = 500_000
"""Lines about the radio. A phone writes a few a second, so days of logs have fewer."""
_MOST_KEPT_BYTES = 64 << 20
"""Text about the radio that is held in memory."""

_MADE = re.compile(rb"^== dumpstate: (\d{4})-(\d\d)-(\d\d)[ _](\d\d)[:-](\d\d)[:-](\d\d)")
_ZONE = re.compile(rb"^\[persist\.sys\.timezone\]: \[([\w/+-]+)\]")
_SERVICE = re.compile(rb"^DUMP OF SERVICE (?:(?:CRITICAL|HIGH|NORMAL) )?([\w./]+):")
_ENDED = re.compile(
    rb"^-{5,} [\d.]+s was the duration of dumpsys ([\w./]+)"
    rb"(?:, ending at: (\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d))?"
)
_REGISTRY = b"telephony.registry"
_HISTORY = re.compile(r"^\s*(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))? - (.*)$")
_LOGCAT = re.compile(
    rb"^(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{3,9}) +(?:\w+ +)?\d+ +\d+ [VDIWE] "
)
_WORDS = (
    b"DUMP OF SERVICE ", b"was the duration of dumpsys", b"[persist.sys.timezone]", HEADER,
    b"SignalStrength:{", b"newSS=[{", b"{mConnectionStatus=",
)  # fmt: skip
_PHONE = re.compile(r"\bphoneId=(\d)|\[PHONE(\d)\]|^\w+ *: \[(\d)\] ")


@dataclass
class Report:
    """A state of one SIM that was notified or logged, in the form of the registry's dump."""

    local_ns: int
    phone: int | None
    """None: the line does not name its SIM."""
    name: str
    """mServiceState, mSignalStrength or mPhysicalChannelConfigs."""
    text: str


@dataclass
class Bugreport:
    """The parts of a bugreport about the radio."""

    dumps: list[tuple[int | None, str]] = field(default_factory=list)
    """Whole dumps of the registry, and when each was made (local time; None: unknown)."""
    history: list[Report] = field(default_factory=list)
    """In order of time."""
    zone: tzinfo | None = None
    is_cut: bool = False
    """The file stops within a dump of the registry, which is then not one of `dumps`."""

    def utc_ns(self, local_ns: int) -> int | None:
        """Return a local time in UTC; None where the report does not name the phone's zone."""
        if self.zone is None:
            return None
        seconds, rest = divmod(local_ns, 10**9)
        naive = EPOCH + timedelta(seconds=seconds)
        shift = naive.replace(tzinfo=self.zone).utcoffset() or timedelta()
        return (seconds - int(shift.total_seconds())) * 10**9 + rest


def read_bugreport(file: Path) -> Bugreport:
    """Read a bugreport in one pass, with bounded memory.

    Raises UnreadableInput for an incomplete zip, a zip without a bugreport, one that unpacks to
    more than 512 MiB, and a report without the registry.
    """
    reader = _Pass(file)
    for block in blocks(file):
        reader.take(block)
    return reader.report()


def _lines_with_words(block: bytes) -> list[tuple[int, int]]:
    """Return begin and end of the lines that have one of the words in them. Most lines have none,
    and are not looked at one by one."""
    spans = set()
    for word in _WORDS:
        at = block.find(word)
        while at >= 0:
            end = block.index(b"\n", at) + 1
            spans.add((block.rfind(b"\n", 0, at) + 1, end))
            at = block.find(word, end)
    return sorted(spans)


class _Pass:
    """One pass over the lines of a bugreport, which collects those about the radio."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._made: tuple[int, ...] | None = None
        self._zone: tzinfo | None = None
        self._dump: list[str] | None = None
        """The text of the registry's dump that the pass is in."""
        self._dumps: list[tuple[int | None, str]] = []
        """Complete dumps of the registry, and when each ended (local time; None: unknown)."""
        self._log: list[tuple[re.Match[bytes], str]] = []
        """Lines of the log buffers: the match of their time, and the text after it."""
        self._kept_bytes = self._count = 0

    def take(self, block: bytes) -> None:
        """Take the next block of the file, which ends with a line."""
        at = 0
        lines = _lines_with_words(block)
        self._count += len(lines)
        if self._count > _MOST_LINES:
            raise UnreadableInput(self._file, f"more than {_MOST_LINES} lines of the radio")
        for begin, end in lines:
            line = block[begin:end]
            service, ended = _SERVICE.match(line), _ENDED.match(line)
            if service or ended:
                self._keep(block[at:begin])
                self._end(local_ns([*map(int, ended.groups()[1:])]) if ended and ended[2] else None)
                self._dump = [] if service and service[1] == _REGISTRY else None
                at = end
            elif self._dump is None:
                self._line(line)
        self._keep(block[at:])

    def _keep(self, text: bytes) -> None:
        """Add a text to the dump of the registry that the pass is in, if any."""
        if self._dump is not None and text:
            self._dump.append(self._kept(text))

    def _line(self, line: bytes) -> None:
        """Take a line outside of the registry's dump: zone, time of the report, or a log's line."""
        if match := _ZONE.match(line):
            self._zone = zone_named(match[1].decode())
        elif self._made is None and (match := _MADE.match(line)):
            self._made = tuple(map(int, match.groups()))
        elif match := _LOGCAT.match(line):
            self._log.append((match, self._kept(line[match.end() :])))

    def _end(self, at_ns: int | None) -> None:
        """End the dump of the registry that the pass is in, if any, with the time of its end."""
        if self._dump:
            self._dumps.append((at_ns, "".join(self._dump)))
        self._dump = None

    def _kept(self, text: bytes) -> str:
        """Decode a text that is kept. Raises UnreadableInput beyond the limit of memory."""
        self._kept_bytes += len(text)
        if self._kept_bytes > _MOST_KEPT_BYTES:
            raise UnreadableInput(self._file, f"more of the radio than {_MOST_KEPT_BYTES} bytes")
        return text.decode(errors="replace")

    def report(self) -> Bugreport:
        """Return what the blocks held. Raises UnreadableInput if nothing of the radio was there."""
        texts = [text for _, text in self._dumps] + ["".join(self._dump or [])]
        if not any(texts) and not self._log:
            raise UnreadableInput(
                self._file,
                "no `DUMP OF SERVICE telephony.registry` in this report",
                "is it whole, and of the full kind?",
            )
        made_ns = local_ns(self._made) if self._made else None
        dumps = [(made_ns if at is None else at, text) for at, text in self._dumps]
        events = [_of_history(line) for text in texts for line in text.splitlines()]
        events += [_of_logcat(when, made_ns, text) for when, text in self._log]
        history = sorted((one for one in events if one), key=lambda one: one.local_ns)
        return Bugreport(dumps, history, self._zone, is_cut=bool(self._dump))


def _of_history(line: str) -> Report | None:
    match = _HISTORY.match(line)
    if match is None:
        return None
    at_ns = local_ns([int(match[part]) for part in range(1, 7)], match[7])
    return None if at_ns is None else _report_of(at_ns, match[8])


def _of_logcat(when: re.Match[bytes], made_ns: int | None, text: str) -> Report | None:
    """Parse a line of a log. Logs have no year; a time after the report is of the year before."""
    if made_ns is None:
        return None
    made = EPOCH + timedelta(seconds=made_ns // 10**9)
    for year in (made.year, made.year - 1):
        parts = [year, *(int(when[part]) for part in range(1, 6))]
        at_ns = local_ns(parts, when[6].decode())
        if at_ns is not None and at_ns <= made_ns + DAY_NS:
            return _report_of(at_ns, text)
    return None


def _report_of(at_ns: int, text: str) -> Report | None:
    """Return the part of a line that the registry's reader understands, under its name there."""
    match = _PHONE.search(text)
    phone = next((int(digit) for digit in match.groups() if digit), None) if match else None
    if (signal := inside(text, "SignalStrength")) is not None:
        return Report(at_ns, phone, "mSignalStrength", f"SignalStrength:{{{signal}}}")
    if "{mConnectionStatus=" in text:
        channels = text[text.index("{mConnectionStatus=") : text.rfind("}") + 1]
        return Report(at_ns, phone, "mPhysicalChannelConfigs", f"[{channels}]")
    if (state := inside(text, "newSS")) is not None:
        return Report(at_ns, phone, "mServiceState", state)
    if "notifyServiceState" in text and (state := inside(text, "state")) is not None:
        return Report(at_ns, phone, "mServiceState", f"{{{state}}}")
    return None
