# SPDX-License-Identifier: GPL-2.0-only
"""Print the files of Python and libbpf that the loader needs: `imported.py LOADER`."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

loader = runpy.run_path(sys.argv[1])
loader["run_options"].parse([])  # argparse imports some modules only then.
loader["bpf_program"].machine.libbpf()
mapped = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines()}
modules = {getattr(one, "__file__", None) or "" for one in list(sys.modules.values())}
print(*sorted(file for file in modules if file.startswith(sys.base_prefix)), sep="\n")
print(*sorted(file.replace(".so.1.", ".so.1 ").split()[0] for file in mapped if "libbpf" in file))
