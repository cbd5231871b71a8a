# SPDX-License-Identifier: Apache-2.0
"""The congestion controls that are one BPF source file each: `NAME.bpf.c` offers NAME.

They lie in cc/bpf, and in the folders that CCU_CC_PATH names (separated by `:`). A run compiles the
one that it uses, keeps source and object beside its raw data, and registers it while it lasts.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ccplane.loader import btf, machine
from ccu.congestion import files, native, parameters, verifier
from ccu.congestion.compiler import first_error
from ccu.congestion.kernel import own, registered
from ccu.congestion.provider import Control, InVirtualTime, Provider, VirtualReport
from ccu.host import cc_files
from ccu.host.setup import Setup
from ddu import interpreter
from ddu.console.problems import Problem, RefusedError, Where, refusal

_SUFFIX = ".bpf.c"
_STAGE = "congestion control"
_NAME = re.compile(r'\.name\s*=\s*"([^"]*)"')
_REGISTERED = "it is registered already, by another run or another program; wait for its end"


def compile_object(source: Path, to: Path, defines: Sequence[str]) -> None:
    """Compile `source`. Raises RefusedError with the line of clang's first error."""
    old = [] if btf.control_has_ack() else ["OLD_CONG_CONTROL"]
    command = [
        *("clang", "-O2", "-g", "-Wall", "-target", "bpf", "-mcpu=v3"),
        *("-I", str(cc_files.SHIPPED), f"-I/usr/include/{sysconfig.get_config_var('MULTIARCH')}"),
        *(f"-D{one}" for one in (*old, *defines)),
        *("-c", str(source), "-o", str(to)),
    ]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode == 0:
        return
    first = first_error(result.stderr)
    rule = first.rule if first else result.stderr.strip()
    where = Where(first.file, first.line) if first else Where(str(source))
    raise RefusedError(Problem(f"clang: {rule}", "correct the source", where))


class BpfSources(Provider):
    """See `ccu.congestion.provider.Provider`."""

    takes_parameters = True
    suffix = _SUFFIX

    def controls(self) -> Mapping[str, Control]:
        taken, kernels = registered(), own()
        return {
            name: replace(self.of_file(file), obstacle=_REGISTERED, temporary=True)
            if name in taken
            else self.of_file(file)
            for name, file in self.sources().items()
            if name not in kernels  # a stand-in for kernels without it
        }

    def sources(self) -> Mapping[str, Path]:
        """The user's folders go before the shipped one."""
        return cc_files.by_name(_SUFFIX)

    def of_file(self, file: Path) -> Control:
        return Control(f"BPF program ({file.name})", obstacle())

    def check(
        self, name: str, file: Path | None, given: Mapping[str, str], *, virtual: bool
    ) -> None:
        assert file
        _check_name(name, file)
        parameters.check(name, file, given)
        defines = parameters.defines(given)
        if virtual:
            native.module(name, file, defines)
            return
        with tempfile.TemporaryDirectory() as folder:
            binary = Path(folder, f"{name}.o")
            compile_object(file, binary, defines)
            if os.geteuid() == 0:
                verifier.check(binary, file)

    def in_virtual_time(self, name: str, file: Path | None, setup: Setup) -> InVirtualTime:
        assert file
        files.keep(file, setup.raw, name)
        built = setup.raw / "logs" / f"{native.module_name(name)}.ko"
        given = setup.experiment.cc_params_of(name)
        built.write_bytes(native.module(name, file, parameters.defines(given)))
        return InVirtualTime(modules=(built.relative_to(setup.raw),))

    def account(
        self,
        name: str,
        file: Path | None,
        setup: Setup,
        report: VirtualReport,  # noqa: ARG002
    ) -> dict[str, Any]:
        assert file
        kept = files.kept_source(setup.raw, name, file.name)
        return {"kind": "module", **_parameters(name, kept, setup), **files.said_of(kept)}

    @contextmanager
    def loaded(self, name: str, file: Path | None, setup: Setup) -> Iterator[dict[str, Any]]:
        assert file
        kept, said = files.keep(file, setup.raw, name)
        binary = kept.with_suffix(".o")
        compile_object(file, binary, parameters.defines(setup.experiment.cc_params_of(name)))
        command = [*interpreter.of_package("ccplane.loader"), str(binary), name]
        process = setup.supervisor.start(f"cc-{name}", command, stage=_STAGE)
        try:
            setup.supervisor.wait_ready_event(process)
            yield {"kind": "bpf", **_parameters(name, kept, setup), **said}
        finally:
            setup.supervisor.stop(process)


def _parameters(name: str, source: Path, setup: Setup) -> dict[str, dict[str, str]]:
    """Return what run.json says of the parameters."""
    return {"parameters": parameters.values(source, setup.experiment.cc_params_of(name))}


def _check_name(name: str, file: Path) -> None:
    """Raise RefusedError if the source gives the kernel another name than its own."""
    for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
        other = _NAME.search(line)
        if other and other[1] != name:
            rule = f"the kernel would call it {other[1]}, and the file is called {name}"
            raise refusal(
                rule, f'write .name = "{name}", or rename the file', file=file, line=number
            )


def obstacle() -> str | None:
    """Return why no BPF program can run here, and how to change that; None: they can."""
    if why := machine.obstacle():
        return why
    if not machine.has_links():
        return (
            f"this kernel ({platform.release()}) keeps a BPF congestion control when its loader is "
            "gone; boot Linux 6.4 or newer"
        )
    if shutil.which("clang") is None:
        return "clang is missing; install it: sudo apt-get install clang libbpf-dev"
    return None


provider = BpfSources()
