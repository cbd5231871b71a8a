# SPDX-License-Identifier: Apache-2.0
"""The implementation of Reminis that a run loads, and the kernel's unchanged state afterwards.

The kernel's files and modprobe are stand-ins here; the real module runs in kmod/tests/qemu.
"""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path

import pytest

from ccplane.loader.registration import Registered
from ccu import congestion
from ccu.congestion import kernel
from ccu.congestion.reminis import bpf_program, implementation, parameters, session
from ccu.congestion.reminis.resources import LoadedModule
from ccu.host import resources
from ccu.host.supervisor import Supervisor
from ccu.scenarios.resolve import resolve
from ccu.spec.errors import RunFailed
from ccu.testbeds import Site
from ddu.console.problems import RefusedError

MODPROBE = """#!/bin/sh
echo "$@" >>{root}/modprobe.log
if [ -n "{refusal}" ]; then echo "{refusal}" >&2; exit 1; fi
if [ "$1" = -r ]; then
    rm -r {root}/sys/tcp_reminis
    echo "reno cubic" >{root}/available
    exit
fi
mkdir -p {root}/sys/tcp_reminis/parameters && cd {root}/sys/tcp_reminis/parameters || exit 1
echo default >dtt_us; echo 150 >dtt_percent; echo 0 >seed; echo Y >pacing
for name in no_nde nde_mean no_ps no_cm no_aimd ewma stale_rtt jump_to_4 \
    mean_base one_way nde_bounded cm_drain new_path; do echo N >$name; done
echo "reno cubic reminis" >{root}/available
"""
LOADER = """#!/bin/sh
echo '{"event":"ready","cc":"reminis","options":"'"$*"'"}'
exec sleep 60
"""
NOBODY = Registered()


@dataclass
class Machine:
    """A kernel's files, modprobe and the loader of the BPF program, as configured by a test."""

    root: Path
    patch: pytest.MonkeyPatch

    def has_module(self, refusal: str = "") -> None:
        folder = self.root / "lib" / platform.release() / "updates/dkms"
        folder.mkdir(parents=True)
        (folder / "tcp_reminis.ko.xz").touch()
        self._program("modprobe", MODPROBE.format(root=self.root, refusal=refusal))

    def has_loader(self, obstacle: str | None = None, holder: Registered = NOBODY) -> None:
        loader = self._program("loader", LOADER)
        self.patch.setattr(bpf_program, "command", lambda *arguments: [str(loader), *arguments])
        self.patch.setattr(bpf_program, "obstacle", lambda: obstacle)
        self.patch.setattr(bpf_program, "holder", lambda: holder)

    def registered(self) -> bool:
        return "reminis" in (self.root / "available").read_text()

    def _program(self, name: str, text: str) -> Path:
        file = self.root / "bin" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)
        return file


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    (tmp_path / "available").write_text("reno cubic\n")
    monkeypatch.setattr(implementation, "_AVAILABLE", tmp_path / "available")
    monkeypatch.setattr(kernel, "_AVAILABLE", tmp_path / "available")
    monkeypatch.setattr(implementation, "_SYS_MODULE", tmp_path / "sys")
    monkeypatch.setattr(implementation, "_MODULES", tmp_path / "lib")
    monkeypatch.setattr(implementation, "_LOADED_MODULES", tmp_path)
    monkeypatch.setattr(implementation, "_UNLOAD_PAUSE_S", 0.0)
    monkeypatch.setattr(session, "_TRACING", tmp_path / "no-tracefs")
    monkeypatch.setattr(resources, "FOLDER", tmp_path / "resources")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    return Machine(tmp_path, monkeypatch)


def site(machine: Machine, **cc_params: str) -> Site:
    raw = machine.root / "raw"
    (raw / "logs").mkdir(parents=True)
    owned = resources.begin_record("run")
    experiment = resolve({"cc": "reminis", "cc_params": cc_params or None})
    return Site(experiment, raw, raw, Supervisor(owned, raw / "logs"), owned)


def test_the_module_is_preferred_and_unloaded(machine: Machine) -> None:
    machine.has_module()
    machine.has_loader()
    run = site(machine, dtt="30ms", nde="off", seed="7")
    with session.in_kernel(run) as loaded:
        assert machine.registered()
        assert (loaded["kind"], loaded["loaded_by_run"]) == ("module", True)
        recorded = loaded["parameters"]
        assert (recorded["dtt_us"], recorded["no_nde"], recorded["seed"]) == ("30000", "Y", "7")
        assert "tracefs" in loaded["why_no_trace"]
    assert not machine.registered()
    assert (machine.root / "modprobe.log").read_text() == "tcp_reminis\n-r tcp_reminis\n"


def test_a_module_that_was_loaded_stays_unchanged(machine: Machine) -> None:
    machine.has_module()
    machine.has_loader()
    assert implementation.load() is None
    implementation.set_parameters({"dtt_us": "50000", "no_ps": "Y"})
    before = implementation.parameters_in_force()
    with session.in_kernel(site(machine)) as loaded:
        assert not loaded["loaded_by_run"]
        assert (loaded["parameters"]["dtt_us"], loaded["parameters"]["no_ps"]) == ("default", "N")
    assert machine.registered()
    assert implementation.parameters_in_force() == before


def test_the_resources_of_a_killed_run_are_removed(machine: Machine) -> None:
    machine.has_module()
    machine.has_loader()
    run = site(machine)
    unfinished = session.in_kernel(run)  # Kept: its end would clean up.
    unfinished.__enter__()
    (left,) = resources.readable_records()  # what is on disk, as the next ccu would read it
    done = left.remove()
    assert not machine.registered()
    assert "unloaded the module tcp_reminis" in done


def test_bpf_is_used_without_a_module(machine: Machine) -> None:
    machine.has_loader()
    with session.in_kernel(site(machine, dtt="0.03s")) as loaded:
        assert loaded["kind"] == "bpf"
        options = loaded["parameters"]["options"]
        assert "--dtt 30000us" in options
        assert "--trace" in options


@pytest.mark.parametrize(
    ("refusal", "words"),
    [
        ("ERROR: could not insert: Key was rejected by service", "signed modules only"),
        ("ERROR: could not insert: Required key not available", "mokutil --import"),
        ("ERROR: could not insert: Operation not permitted", "lockdown"),
        ("ERROR: could not insert: File exists", "the name reminis is taken"),
        ("ERROR: could not insert: Exec format error", "dkms-install"),
    ],
)
def test_bpf_is_used_if_the_module_is_refused(machine: Machine, refusal: str, words: str) -> None:
    machine.has_module(refusal)
    machine.has_loader()
    run = site(machine)
    with session.in_kernel(run) as loaded:
        assert loaded["kind"] == "bpf"
        assert words in loaded["why_no_module"]
    assert not run.resources.of(LoadedModule)


def test_with_neither_both_reasons_are_reported(machine: Machine) -> None:
    machine.has_module("ERROR: could not insert: Key was rejected by service")
    machine.has_loader(obstacle="this kernel has no BTF")
    with (
        pytest.raises(RunFailed, match=r"(?s)signed modules only.*BPF: .*no BTF"),
        session.in_kernel(site(machine)),
    ):
        pass


@pytest.mark.parametrize(
    ("holder", "root", "words"),
    [
        (Registered("bpf", 7, 4711), True, "process 4711"),
        (Registered("bpf", 7, 0), True, "ccu clean"),
        (Registered("other"), True, "another program's"),
        (Registered("other"), False, "sudo ccu"),
    ],
)
def test_a_taken_name_is_not_an_algorithm_of_the_kernel(
    machine: Machine, holder: Registered, root: bool, words: str
) -> None:
    (machine.root / "available").write_text("reno reminis\n")
    machine.has_loader(holder=holder)
    machine.patch.setattr(implementation, "_is_root", lambda: root)
    assert "reminis" not in congestion.available()
    assert words in str(congestion.describe()["reminis"].obstacle)
    with pytest.raises(RefusedError, match=words):
        congestion.check(resolve({"cc": "reminis"}))
    # A campaign does not leave out runs that a run of another campaign blocks for now.
    assert ("reminis" in congestion.available_later()) == ("process" in words)


@pytest.mark.parametrize("text", ["0ms", "-5ms", "11s", "30", "soon", "1e400s", "0.4us"])
def test_an_invalid_dtt_is_refused(text: str) -> None:
    with pytest.raises(RefusedError, match="dtt=30ms"):
        parameters.check({"dtt": text})


@pytest.mark.parametrize(
    "params",
    [{"dtt_factor": "1"}, {"dtt_factor": "nan"}, {"seed": "0"}, {"seed": "x"}, {"nde": "maybe"}],
)
def test_other_invalid_parameters(params: dict[str, str]) -> None:
    with pytest.raises(RefusedError, match="cc_params: "):
        parameters.check(params)


def test_a_profile_is_its_parameters_and_each_given_one_precedes_it() -> None:
    profile = {"mean_base": "on", "one_way": "on", "nde": "bounded", "cm": "drain"}
    assert parameters.for_module({"profile": "nr"}) == parameters.for_module(profile)
    assert parameters.for_loader({"profile": "nr"}) == parameters.for_loader(profile)
    assert parameters.for_module({"profile": "paper"}) == parameters.for_module({})
    without = parameters.for_module({"nde": "off", "one_way": "off", "profile": "nr"})
    assert (without["no_nde"], without["nde_bounded"], without["one_way"]) == ("Y", "N", "N")
    assert (without["mean_base"], without["cm_drain"]) == ("Y", "Y")


def test_an_unknown_profile_is_refused() -> None:
    with pytest.raises(RefusedError, match="Choose one of paper, nr"):
        parameters.check({"profile": "lte"})


def test_both_implementations_accept_every_parameter() -> None:
    every = {
        "dtt": "40ms",
        "dtt_factor": "2",
        "pacing": "off",
        "nde": "mean",
        "fresh_rtt": "off",
        "ewma": "off",
    }
    parameters.check(every)
    loader = parameters.for_loader(every)
    assert loader == [
        *("--dtt", "40000us", "--dtt-factor", "2"),
        *("--no-pacing", "--nde-mean", "--stale-rtt"),
    ]
    module = parameters.for_module(every)
    assert (module["dtt_us"], module["dtt_percent"], module["pacing"]) == ("40000", "200", "N")
    assert (module["nde_mean"], module["stale_rtt"], module["ewma"]) == ("Y", "Y", "N")


def test_two_runs_do_not_share_the_modules_parameters(machine: Machine) -> None:
    machine.has_module()
    assert implementation.load() is None
    run = site(machine, dtt="30ms")
    with session.in_kernel(run):
        with pytest.raises(RunFailed, match="another run uses"), session.in_kernel(run):
            pass
        assert implementation.parameters_in_force()["dtt_us"] == "30000"
