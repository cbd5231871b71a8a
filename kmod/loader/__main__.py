# SPDX-License-Identifier: GPL-2.0-only
"""Registers the BPF congestion control "reminis" for as long as it runs, and writes its trace.

usage: reminis-bpf run [--dtt TIME] [--trace FILE.csv] …   (--help lists the options)
       reminis-bpf trace-module FILE.csv   trace of the module tcp_reminis
       reminis-bpf status                  show registration and kernel support
       reminis-bpf clean                   remove what a killed loader left registered
TIME needs a unit: 30ms, 0.03s or 30000us.

It prints JSON only to standard output, one line per event; errors go to standard error.
docs/reminis.md describes the commands.
"""

from __future__ import annotations

import sys
from pathlib import Path

import bpf_program
import module_trace
import run_options
from ccplane.loader.libbpf import LoadError
from ccplane.loader.lifetime import Lifetime

_FAILED, _REFUSED = 1, 2


def main(arguments: list[str]) -> int:
    """Run a command; return the exit code."""
    lifetime = Lifetime()
    why = None
    match arguments:
        case ["run", *given]:
            why = bpf_program.run(lifetime, run_options.parse(given))
        case ["trace-module", file]:
            why = module_trace.trace_module(lifetime, Path(file))
        case ["status"]:
            bpf_program.status()
        case ["clean"]:
            why = bpf_program.clean()
        case _:
            print((__doc__ or "").partition("\n\n")[2], file=sys.stderr)
            return _REFUSED
    if why:
        print(f"reminis-bpf: {why}", file=sys.stderr)
    return _FAILED if why else 0


if __name__ == "__main__":
    try:
        code = main(sys.argv[1:])
    except LoadError as error:
        code, _ = _FAILED, print(f"reminis-bpf: {error}", file=sys.stderr)
    sys.exit(code)
