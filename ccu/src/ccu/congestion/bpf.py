# SPDX-License-Identifier: Apache-2.0
"""The congestion controls that are one BPF source file each: `NAME.bpf.c` offers NAME.

They lie in cc/bpf, and in the folders that CCU_CC_PATH names (separated by `:`). A run compiles the
one that it uses, keeps source and object beside its raw data, and registers it while it lasts.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ccu.congestion.kernel import registered
from ccu.congestion.provider import Control, Setup
from ccu.host import programs
from testbed_console.problems import Problem, RefusedError, Where

PATH_VARIABLE = "CCU_CC_PATH"
_SHIPPED = programs.REPOSITORY / "cc" / "bpf"
_SUFFIX = ".bpf.c"
_BTF = Path("/sys/kernel/btf/vmlinux")
_STAGE = "congestion control"
_CLANG_ERROR = re.compile(
    r"^(?P<file>.*?):(?P<line>\d+):\d+: (?:fatal )?error: (?P<rule>.*)$", re.MULTILINE
)
_REGISTERED = "it is registered already, by another run or another program; wait for its end"


def sources() -> dict[str, Path]:
    """Return the source file of each; the user's folders go before the shipped one."""
    named = filter(None, os.environ.get(PATH_VARIABLE, "").split(":"))
    folders = [_SHIPPED, *(Path(one) for one in named)]
    files = (file for folder in folders for file in sorted(folder.glob(f"*{_SUFFIX}")))
    return {file.name.removesuffix(_SUFFIX): file for file in files}


def compile_object(source: Path, to: Path) -> None:
    """Compile `source`. Raises RefusedError with the line of clang's first error."""
    command = [
        *("clang", "-O2", "-g", "-Wall", "-target", "bpf", "-mcpu=v3"),
        *("-I", str(_SHIPPED), f"-I/usr/include/{sysconfig.get_config_var('MULTIARCH')}"),
        *("-c", str(source), "-o", str(to)),
    ]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode == 0:
        return
    first = _CLANG_ERROR.search(result.stderr)
    rule = first["rule"] if first else result.stderr.strip()
    where = Where(first["file"], int(first["line"])) if first else Where(str(source))
    raise RefusedError(Problem(f"clang: {rule}", "correct the source", where))


class BpfSources:
    """See `ccu.congestion.provider.Provider`."""

    takes_parameters = False

    def controls(self) -> Mapping[str, Control]:
        obstacle, taken = _obstacle(), registered()
        found = {}
        for name, file in sources().items():
            source = f"BPF program ({file.name})"
            if name in taken:
                found[name] = Control(source, _REGISTERED, temporary=True)
            else:
                found[name] = Control(source, obstacle)
        return found

    def check(self, name: str, parameters: Mapping[str, str]) -> None:  # noqa: ARG002
        compile_object(sources()[name], Path(os.devnull))

    @contextmanager
    def loaded(self, name: str, setup: Setup) -> Iterator[dict[str, Any]]:
        source = sources()[name]
        kept = setup.raw / f"cc-{name}{_SUFFIX}"
        shutil.copyfile(source, kept)
        binary = kept.with_suffix(".o")
        compile_object(source, binary)
        command = [sys.executable, "-m", "ccu.congestion.bpf_loader", str(binary), name]
        process = setup.supervisor.start(f"cc-{name}", command, stage=_STAGE)
        try:
            setup.supervisor.wait_ready_event(process)
            digest = hashlib.sha256(kept.read_bytes()).hexdigest()
            yield {"kind": "bpf", "parameters": {}, "source": f"raw/{kept.name}", "sha256": digest}
        finally:
            setup.supervisor.stop(process)


def _obstacle() -> str | None:
    if not _BTF.exists():
        return (
            f"this kernel has no BTF ({_BTF}), which BPF needs; boot one with "
            "CONFIG_DEBUG_INFO_BTF=y"
        )
    if shutil.which("clang") is None:
        return "clang is missing; type: make build (it installs clang)"
    return None


provider = BpfSources()
