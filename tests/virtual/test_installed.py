# SPDX-License-Identifier: Apache-2.0
"""The wheels over5g and over5g-kernel, installed where no checkout is in reach."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KERNEL = ROOT / ".tools/virtual-kernel/linux"
UV = ROOT / ".tools/uv/bin/uv"


class Installed:
    """A virtual environment with the wheels; only what they depend on is of this environment."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "environment/bin"
        self.cwd = folder / "elsewhere"
        self.cwd.mkdir()
        self.wheels = folder / "wheels"
        self._uv("venv", self.bin.parent)
        build = ("build", "--wheel", "--no-build-isolation", "--out-dir", self.wheels)
        self._uv(*build, ROOT)
        if (KERNEL.resolve().parent / "about.json").exists():
            self._uv(*build, ROOT / "packaging/kernel")
        packages = ("pip", "install", "--python", self.bin / "python", "--no-deps")
        self._uv(*packages, *self.wheels.glob("*.whl"))
        (inside,) = self.bin.parent.glob("lib/python*/site-packages")
        dependencies = folder / "dependencies"
        dependencies.mkdir()
        # Without the editable packages: what they declare is declared by the wheel too.
        for there in Path(sysconfig.get_path("purelib")).iterdir():
            if not re.match(
                r"(ccplane|cctraining|ccu|ddu|over5g|_editable).*|.*\.pth$", there.name
            ):
                (dependencies / there.name).symlink_to(there)
        (inside / "dependencies.pth").write_text(f"{dependencies}\n")

    @staticmethod
    def _uv(*arguments: object, **environment: str) -> None:
        command = [UV, arguments[0], "--offline", "--quiet", "--python", sys.executable]
        if arguments[0] == "pip":
            command = [UV, "--offline", "--quiet", "pip"]
        done = subprocess.run(
            [*command, *map(str, arguments[1:])], env=os.environ | environment,
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr

    def run(self, *command: object, **environment: str) -> subprocess.CompletedProcess[str]:
        outside = {name: value for name, value in os.environ.items() if name != "CCU_KERNEL"}
        return subprocess.run(
            [self.bin / str(command[0]), *map(str, command[1:])], cwd=self.cwd,
            env=outside | environment,
            capture_output=True, text=True,
        )  # fmt: skip

    def says(self, *command: object) -> str:
        done = self.run(*command)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def installed(kernel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    if not (kernel.parent / "about.json").exists():
        pytest.skip(f"{kernel}: was built before kernels had wheels (make kernel)")
    return Installed(tmp_path_factory.mktemp("installed"))


def wheel(installed: Installed, name: str) -> zipfile.ZipFile:
    (file,) = installed.wheels.glob(f"{name}-*.whl")
    return zipfile.ZipFile(file)


def test_every_program_says_the_one_version(installed: Installed) -> None:
    (version,) = re.findall(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)
    for program in ("ccu", "ddu", "nr-link", "socket-sampler", "quic-flow"):
        assert installed.says(program, "--version").split()[-1] == version
    for name in ("over5g", "over5g_kernel"):
        assert [file.name for file in installed.wheels.glob(f"{name}-{version}-*.whl")]
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"\n## [{version}] - " in (ROOT / "CHANGELOG.md").read_text()


def test_it_needs_few_packages_and_its_own_kernel(installed: Installed) -> None:
    with wheel(installed, "over5g") as archive:
        (file,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        about = message_from_string(archive.read(file).decode())
    needed = about.get_all("Requires-Dist", [])
    plain = {re.split(r"[<>=~;\[ ]", one)[0] for one in needed if "extra ==" not in one}
    assert "over5g-kernel" in plain
    assert not plain & {
        "ccu",
        "ddu",
        "ccplane",
        "cctraining",
        "distributed",
        "psycopg",
        "gymnasium",
    }
    assert {"dask", "gym", "notebook", "store"} <= set(about.get_all("Provides-Extra", []))


def test_the_kernel_comes_with_its_source(installed: Installed) -> None:
    with wheel(installed, "over5g_kernel") as archive:
        names = {name.partition(".data/data/")[2] for name in archive.namelist()}
    for folder in ("nr-link/virtual/driver", "kmod/module"):
        for file in (ROOT / folder).glob("*.[ch]"):
            assert f"share/over5g-kernel/{file.relative_to(ROOT)}" in names
    assert "share/over5g-kernel/setup/virtual-kernel" in names
    about = json.loads((installed.bin.parent / "lib/nr-link/about.json").read_text())
    assert re.fullmatch(r"linux-source-\S+ \S+|given \S+", about["source"])


def test_a_kernel_of_another_version_is_refused_in_one_sentence(installed: Installed) -> None:
    about = installed.bin.parent / "lib/nr-link/about.json"
    content = about.read_text()
    about.write_text(json.dumps(json.loads(content) | {"abi": 1}))
    try:
        said = installed.run("nr-link", "virtual", "doctor")
    finally:
        about.write_text(content)
    assert said.returncode == 1
    (line,) = said.stderr.splitlines()
    assert "this kernel has interface 1" in line
    assert "Install over5g and over5g-kernel of the same version" in line


def test_the_packages_are_those_of_the_wheels(installed: Installed) -> None:
    names = "ccu", "ddu", "ddu._packets", "ccplane", "over5g"
    script = f"import {', '.join(names)}, sys; print(*(sys.modules[n].__file__ for n in {names}))"
    files = installed.says("python", "-c", script).split()
    assert len(files) == len(names)
    assert all(Path(file).is_relative_to(installed.bin.parent) for file in files)


@pytest.mark.parametrize(
    ("command", "patterns"),
    [
        ("ccu list scenarios", ["rf-scenarios/*.yaml"]),
        ("ccu campaign list", ["campaigns/*.yaml"]),
        ("ccu list cc", ["cc/bpf/*.bpf.c", "cc/policies/*.py"]),
    ],
)
def test_what_comes_with_the_project_is_listed(
    installed: Installed, command: str, patterns: list[str]
) -> None:
    files = [file.name for pattern in patterns for file in ROOT.glob(pattern)]
    names = {re.sub(r"\.(yaml|bpf\.c|py)$", "", name) for name in files}
    assert names
    assert names <= set(installed.says(*command.split()).split())


def test_a_scenario_is_shown(installed: Installed) -> None:
    installed.says("ccu", "scenario", "show", "rome-moderate", "--figure", "shown.svg")
    assert "<svg" in (installed.cwd / "shown.svg").read_text()


def test_every_file_for_containers_is_there(installed: Installed) -> None:
    inside = next(installed.bin.parent.glob("lib/python*/site-packages"))
    for package, folder in (
        ("ccu", "containers/core"), ("ccu", "containers/ran"), ("ccu", "kmod/module"),
        ("ccu", "kmod/loader"), ("ccu", "kmod/bpf"), ("ccu", "kmod/build"),
        ("ddu", "dashboards/generated"), ("ddu", "dashboards/provisioning"),
    ):  # fmt: skip
        there = inside / package / "data" / folder
        wanted = [file for file in (ROOT / folder).rglob("*") if file.is_file()]
        wanted = [file for file in wanted if "__pycache__" not in file.parts]
        if folder == "kmod/build":  # The compiled BPF program, where there is clang.
            wanted = [file for file in wanted if file.name == "reminis.bpf.o"]
        assert wanted or folder == "kmod/build"
        for file in wanted:
            copied = there / file.relative_to(ROOT / folder)
            assert copied.read_bytes() == file.read_bytes()
    compose = "containers/store.yml"
    assert (inside / "ddu/data" / compose).read_bytes() == (ROOT / compose).read_bytes()


def test_a_run_and_its_tables(installed: Installed) -> None:
    arguments = ("--cc", "reminis", "--prb", "24", "--scenario", "static", "--duration", "2s")
    assert "scenario: static" in installed.says("ccu", "run", *arguments, "--dry-run")
    installed.says("ccu", "run", "--testbed", "virtual", *arguments)
    (run,) = (one for one in (installed.cwd / "runs").iterdir() if not one.is_symlink())
    software = json.loads((run / "run.json").read_text())["software"]
    revision = subprocess.run(
        ["git", "-c", f"safe.directory={ROOT}", "rev-parse", "HEAD"], cwd=ROOT,
        capture_output=True, text=True,
    )  # fmt: skip
    if revision.returncode == 0:
        assert software["git_revision"] == revision.stdout.strip()
    installed.says("ddu", "analyze", "--no-report", run)  # The run has its report.
    assert json.loads((run / "summary.json").read_text())["throughput_bps"] > 1e6
    assert "tcp_goodput_bps" in installed.says("ddu", "schema")
    inside = next(installed.bin.parent.glob("lib/python*/site-packages"))
    assert not (inside / "ccu/data/kmod/tests").exists()


@pytest.mark.parametrize("cc", ["aimd.py", "aimd.bpf.c"])
def test_a_source_of_the_project_runs(installed: Installed, cc: str) -> None:
    if cc.endswith(".c") and not (KERNEL.resolve().parent / "module-tree/source-tree").exists():
        pytest.skip("the kernel was kept without what modules are built with")
    # A module needs more than the kernel that comes in a wheel.
    environment = {"CCU_KERNEL": str(KERNEL)} if cc.endswith(".c") else {}
    ran = installed.run(
        "ccu", "run", "--no-report", "--testbed", "virtual", "--cc", cc, "--prb", "24",
        "--scenario", "static", "--duration", "2s", "--output", cc, **environment,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr


def test_the_kernel_of_the_wheel_says_what_a_module_needs(installed: Installed) -> None:
    said = installed.run("ccu", "run", "--testbed", "virtual", "--cc", "aimd.bpf.c")
    assert said.returncode == 2
    assert "what modules are built with is missing" in said.stderr
    assert "name that kernel with CCU_KERNEL" in said.stderr


def test_a_missing_program_and_kernel_say_how_to_get_them(installed: Installed) -> None:
    arguments = ("ccu", "run", "--testbed", "virtual", "--cc", "cubic", "--duration", "2s")
    without_kernel = installed.run(*arguments, CCU_KERNEL="/nowhere/linux")
    assert without_kernel.returncode == 2
    assert "/nowhere/linux" in without_kernel.stderr
    assert "CCU_KERNEL" in without_kernel.stderr
    program = installed.bin / "nr-link"
    program.rename(program.with_suffix(".away"))
    try:
        without = installed.run(*arguments, PATH="/usr/bin:/bin")
    finally:
        program.with_suffix(".away").rename(program)
    assert without.returncode == 2
    assert f"the program belongs into {installed.bin}" in without.stderr
    assert "make build" not in without.stderr
