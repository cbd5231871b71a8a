# SPDX-License-Identifier: GPL-2.0-only
"""The command line of `reminis-bpf run`, resolved into one valid value."""

from __future__ import annotations

import argparse
import math
import re
import struct
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

SWITCHES = (  # in the order of the bits of enum reminis_switch
    *("no-nde", "nde-mean", "no-ps", "no-cm", "no-aimd", "ewma", "stale-rtt", "jump-to-4"),
    *("mean-base", "one-way", "nde-bounded", "cm-drain", "new-path"),
)
_PARAMS = struct.Struct("=4I")  # struct reminis_params
_DTT_MAX_US = 10_000_000  # REMINIS_DTT_MAX_US
_PORTS_MAX = 1024  # REMINIS_PORTS_MAX of bpf/trace_record.h
_Q16 = 1 << 16
_UNITS_US = {"us": 1.0, "ms": 1e3, "s": 1e6}


@dataclass(frozen=True)
class Options:
    """The settings of one registration."""

    dtt_us: int
    """0: a multiple of mRTT."""
    dtt_factor_q16: int
    seed: int
    """0: the kernel's random numbers."""
    switches: tuple[str, ...]
    pacing: bool
    ports: dict[int, int]
    """DTT in µs by port."""
    trace: Path | None
    verbose: bool

    @property
    def params(self) -> bytes:
        """Return them as the program's struct reminis_params."""
        bits = sum(1 << SWITCHES.index(one) for one in self.switches)
        return _PARAMS.pack(self.dtt_us, self.dtt_factor_q16, bits, self.seed)


class _Parser(argparse.ArgumentParser):
    """It prints one line if the input is wrong."""

    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"reminis-bpf: {message.removeprefix('argument ')}\n")
        sys.exit(2)


def parse(arguments: list[str]) -> Options:
    """Return the options of a command line. With bad input it ends this process with code 2."""
    parser = _parser()
    given, unknown = parser.parse_known_args(arguments)
    for one in unknown:
        what = "unrecognized option" if one.startswith("-") else "unexpected argument. Remove it"
        parser.error(f"{one}: {what}")
    if len(given.port_dtt) > _PORTS_MAX:
        parser.error(f"--port-dtt: too many ports. Give at most {_PORTS_MAX}")
    return Options(
        dtt_us=given.dtt,
        dtt_factor_q16=given.dtt_factor,
        seed=given.seed,
        switches=tuple(one for one in SWITCHES if getattr(given, one.replace("-", "_"))),
        pacing=not given.no_pacing,
        ports=dict(given.port_dtt),
        trace=given.trace,
        verbose=given.verbose,
    )


def _parser() -> _Parser:
    parser = _Parser(prog="reminis-bpf run", allow_abbrev=False)
    parser.add_argument("--dtt", type=_dtt_us, default=0, metavar="TIME", help="such as 30ms")
    parser.add_argument("--dtt-factor", type=_factor_q16, default=3 * _Q16 // 2, metavar="X",
                        help="DTT as a multiple of mRTT")  # fmt: skip
    parser.add_argument("--port-dtt", type=_port, action="append", default=[], metavar="PORT=TIME")
    parser.add_argument("--seed", type=_seed, default=0, metavar="N")
    parser.add_argument("--no-pacing", action="store_true")
    parser.add_argument("--trace", type=Path, metavar="FILE.csv", help="a record for each SI")
    parser.add_argument("--verbose", "-v", action="store_true", help="the verifier's whole log")
    for one in SWITCHES:
        parser.add_argument(f"--{one}", action="store_true")
    return parser


def _dtt_us(text: str) -> int:
    """Return a time in µs. The unit is required, so that 30 cannot be mistaken for seconds."""
    parts = re.fullmatch(r"(.*?)(us|ms|s)", text)
    try:
        value_us = float(parts[1]) * _UNITS_US[parts[2]] if parts else None
    except ValueError:
        value_us = None
    if value_us is None:
        raise argparse.ArgumentTypeError(f"{text}: not a time with a unit. Write for example 30ms")
    if not (math.isfinite(value_us) and 1 <= round(value_us) <= _DTT_MAX_US):
        reason = "out of range. Choose a DTT above 0 and at most 10s"
        raise argparse.ArgumentTypeError(f"{text}: {reason}")
    return round(value_us)


def _factor_q16(text: str) -> int:
    try:
        factor = float(text)
    except ValueError:
        factor = 0.0
    if not _Q16 < factor * _Q16 <= 100 * _Q16:
        reason = "not a valid factor of mRTT. Choose one above 1 and at most 100"
        raise argparse.ArgumentTypeError(f"{text}: {reason}")
    return round(factor * _Q16)


def _whole(text: str, most: int) -> int:
    """Return a number from 1 to `most`; 0: it is not one."""
    value = int(text) if re.fullmatch("[0-9]{1,10}", text) else 0
    return value if value <= most else 0


def _seed(text: str) -> int:
    if seed := _whole(text, 2**32 - 1):
        return seed
    reason = "not valid. Give a whole number from 1 to 4294967295"
    raise argparse.ArgumentTypeError(f"{text}: {reason}")


def _port(text: str) -> tuple[int, int]:
    port, equals, dtt = text.partition("=")
    if not (equals and _whole(port, 65535)):
        reason = "not of the form PORT=DTT. Write for example 5201=30ms"
        raise argparse.ArgumentTypeError(f"{text}: {reason}")
    return int(port), _dtt_us(dtt)
