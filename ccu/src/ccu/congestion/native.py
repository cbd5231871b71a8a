# SPDX-License-Identifier: Apache-2.0
"""A BPF source file as a kernel module for the virtual testbed, whose kernel runs no BPF congestion
controls (cc/bpf/congestion_module.h)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from ccu.congestion.compiler import first_error
from ccu.host import cc_files, programs
from ddu.console.problems import RefusedError, refusal
from ddu.installation import data

_BUILD = data("ccu", "virtual-module")
_OPS = re.compile(r'SEC\("\.struct_ops(?:\.link)?"\)\s*struct\s+tcp_congestion_ops\s+(\w+)')
_MAPS = re.compile(r'SEC\("\.maps"\)')
_KBUILD = """obj-m := {module}.o
# A BPF program declares no prototypes.
ccflags-y := -Wno-missing-prototypes -Wno-missing-declarations {defines}
"""
_REGISTRATION = """#include "{source}"

static int __init register_this(void)
{{
#ifdef BEFORE_REGISTRATION
	int error = BEFORE_REGISTRATION();

	if (error)
		return error;
#endif
	{ops}.owner = THIS_MODULE;
	return tcp_register_congestion_control(&{ops});
}}

module_init(register_this);
MODULE_LICENSE("GPL");
"""


def module_name(name: str) -> str:
    """Return the module's name, as the kernel will show it."""
    return f"cc_{name.replace('-', '_')}"


def module(name: str, source: Path, defines: tuple[str, ...] = ()) -> bytes:
    """Return the kernel module that `source` becomes. Raises RefusedError with the compiler's first
    error."""
    return _module(name, source, source.read_bytes(), defines)


@cache
def _module(name: str, source: Path, content: bytes, defines: tuple[str, ...]) -> bytes:
    """A source may change while a campaign uses it: its content decides, not its name."""
    text = content.decode(errors="replace")
    if maps := _MAPS.search(text):
        line = text.count("\n", 0, maps.start()) + 1
        fix = "keep the state in private_area(sk)"
        raise refusal("there are no BPF maps in virtual time", fix, file=source, line=line)
    ops = _OPS.search(text)
    if ops is None:
        rule = 'has no SEC(".struct_ops") struct tcp_congestion_ops'
        raise refusal(rule, "see docs/congestion-controls.md", file=source)
    own = module_name(name)
    flags = " ".join(f"-D{one}" for one in defines)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder, "source")
        work.mkdir()
        (work / source.name).write_bytes(content)
        for header in cc_files.SHIPPED.glob("*.h"):
            shutil.copyfile(header, work / header.name)
        (work / f"{own}.c").write_text(_REGISTRATION.format(source=source.name, ops=ops[1]))
        (work / "Kbuild").write_text(_KBUILD.format(module=own, defines=flags))
        built = Path(folder, f"{own}.ko")
        command: list[str | Path] = [_BUILD, "--keep", work, built]
        environment = os.environ | {"NR_LINK": programs.require("nr-link")}
        tried = subprocess.run(command, capture_output=True, text=True, env=environment)
        if tried.returncode:
            raise _refused(tried.stderr, source)
        return built.read_bytes()


def _refused(log: str, source: Path) -> RefusedError:
    if first := first_error(log):
        fix = "correct the source; in virtual time it is compiled as a kernel module"
        where = source if first.file == source.name else Path(first.file)
        return refusal(f"gcc: {first.rule}", fix, file=where, line=first.line)
    reason = (log.strip().splitlines() or ["setup/virtual-module gave no reason"])[-1]
    return refusal(reason.removeprefix("setup: "), file=source)
