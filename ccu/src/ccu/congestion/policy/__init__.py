# SPDX-License-Identifier: Apache-2.0
"""The provider of policies: a Python file decides for TCP, through the plane (cc/plane)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ccu.congestion import bpf, files
from ccu.congestion.policy import account, program
from ccu.congestion.provider import (
    Control,
    InVirtualTime,
    NewParameters,
    Provider,
    VirtualReport,
    changed_values,
)
from ccu.host import cc_files, policies
from ccu.host.contain import Rights, contained
from ccu.host.setup import Setup
from ccu.spec.errors import RunFailed
from ccu.spec.experiment import Experiment
from ddu import interpreter

_SUFFIX = ".py"
_STAGE = "congestion control"
_ONLY_VIRTUAL = "it knows the capacity to come, which only --testbed virtual has"


class Policies(Provider):
    """See `ccu.congestion.provider.Provider`."""

    takes_parameters = True
    changes_parameters = True
    suffix = _SUFFIX

    def controls(self) -> Mapping[str, Control]:
        return {name: self.of_file(file) for name, file in self.sources().items()}

    def sources(self) -> Mapping[str, Path]:
        """Policies in the folders of `files`; a name that a BPF source has is that one's."""
        named = cc_files.by_name(_SUFFIX)
        return {name: named[name] for name in sorted(named.keys() - bpf.provider.sources().keys())}

    def of_file(self, file: Path) -> Control:
        why = _ONLY_VIRTUAL if program.knows_the_link(file) else bpf.obstacle()
        return Control(f"policy ({file.name})", why)

    def check(
        self,
        name: str,  # noqa: ARG002
        file: Path | None,
        parameters: Mapping[str, str],
        *,
        virtual: bool,  # noqa: ARG002
    ) -> None:
        """Look at the syntax only: the policy is executed by `try_out`."""
        assert file
        policies.check_syntax(file)
        files.check_paths(parameters)

    def try_out(
        self,
        name: str,  # noqa: ARG002
        file: Path | None,
        parameters: Mapping[str, str],
        changes: Mapping[str, str] | None = None,
    ) -> None:
        assert file
        policies.try_out(file, parameters, files.among(parameters).values(), changes)

    @contextmanager
    def loaded(self, name: str, file: Path | None, setup: Setup) -> Iterator[dict[str, Any]]:
        assert file
        kept, said = files.keep(file, setup.raw, name)
        binary = setup.raw / "logs" / f"cc-{name}.o"
        bpf.compile_object(program.PLANE, binary, program.defines(name))
        policy = program.run_command(name, kept, setup)
        pipe = program.changes_pipe(setup.raw, name)
        os.mkfifo(pipe)
        policy += ["--changes", str(pipe.relative_to(setup.raw))]
        rights = Rights((str(setup.raw),), program.writes_of(setup.raw, name), goes_first=True)
        _, *arguments = contained(policy, rights)  # by the same Python
        command = [*interpreter.of_package("ccplane.loader"), str(binary), name]
        command += [str(setup.raw), *arguments]
        process = setup.supervisor.start(f"cc-{name}", command, stage=_STAGE)
        implemented: dict[str, Any] = {"kind": "policy", **said}
        try:
            implemented["parameters"] = setup.supervisor.wait_ready_event(process)["parameters"]
            yield implemented
        finally:
            setup.supervisor.stop(process)
            pipe.unlink()
            counters = account.last_counters(process.output)
            implemented |= account.of(name, setup, counters)

    def in_virtual_time(self, name: str, file: Path | None, setup: Setup) -> InVirtualTime:
        assert file
        kept, _ = files.keep(file, setup.raw, name)
        files_of_plane = ["--files", f"/proc/nr-link/plane-{name}"]
        own = program.run_command(name, kept, setup)
        knows = program.knows_the_link(file)
        if knows:
            own += program.link_arguments(setup.experiment)
        return InVirtualTime(
            policy=(*own, *files_of_plane),
            policy_changes=("--changes", "-"),
            knows_the_link=knows,
        )

    def change(self, name: str, before: Experiment, after: Experiment, setup: Setup) -> None:
        line = json.dumps(self.new_parameters(name, before, after).of_policy)
        try:
            writes = os.open(program.changes_pipe(setup.raw, name), os.O_WRONLY | os.O_NONBLOCK)
            with os.fdopen(writes, "w") as pipe:
                print(line, file=pipe)
        except OSError as error:
            raise RunFailed(_STAGE, f"{name}: the policy takes no changes ({error})") from None

    def new_parameters(self, name: str, before: Experiment, after: Experiment) -> NewParameters:
        return NewParameters(of_policy=changed_values(name, before, after))

    def account(
        self, name: str, file: Path | None, setup: Setup, report: VirtualReport
    ) -> dict[str, Any]:
        assert file
        kept = files.kept_source(setup.raw, name, file.name)
        said = files.said_of(kept)
        parameters = {"parameters": account.parameters(name, setup)}
        return {"kind": "policy", **said, **parameters, **account.of(name, setup, report.counters)}


provider = Policies()
