# SPDX-License-Identifier: Apache-2.0
"""The programs that `ccu` starts, often as root, import nothing from the folder of the user."""

from __future__ import annotations

import ast
import os
import subprocess
from operator import methodcaller
from pathlib import Path

import pytest

from ccu.congestion.reminis import bpf_program
from ccu.host import contain, policies
from ccu.host.child import Child
from ccu.host.contain import Rights, contained
from ccu.testbeds.oai import real_time
from ccu.traffic.quic import policy as policy_of_quic
from ddu import interpreter
from testsupport import hostile

ROOT = Path(__file__).parents[2]
SOURCES = ("cc/python/src", "ccu/src", "ddu/src", "over5g/src")
STARTS = {
    "ddu/src/ddu/interpreter.py": "the one place",
    "cc/python/src/ccplane/loader/policy.py": "the words of a command that ccu made there",
    "ccu/src/ccu/testbeds/phone/traffic_driver.py": "python -I, which reads no environment either",
}
"""The files that may start an interpreter, and why."""
CONTEXTS = {"ccu/src/ccu/host/child.py", "ddu/src/ddu/campaign/analysis.py"} | {
    "ddu/src/ddu/store/following.py"
}


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that a module of the current folder leaves when it is imported."""
    folder, mark = hostile.folder_in(tmp_path)
    monkeypatch.chdir(folder)
    return mark


def test_containment_begins_with_ours(mark: Path) -> None:
    contain.losses.cache_clear()
    try:
        ran = subprocess.run(contained(["echo", "done"], Rights()), capture_output=True, text=True)
    finally:
        contain.losses.cache_clear()
    assert not mark.exists()
    assert ran.stdout == "done\n"


def test_a_policy_with_the_name_of_a_module_is_only_a_policy(mark: Path) -> None:
    """It would leave its mark, if it were not contained."""
    if contain.losses().keys() & {"mounts"}:
        pytest.skip("this machine has no read-only views")
    Path("mine.py").write_text("class Mine:\n    def report(self, flow, report):\n        pass\n")
    policies.try_out(Path("mine.py").resolve(), {})
    words = policy_of_quic.words(Path("mine.py").resolve(), [], "--pipes", "0", "1")
    ran = subprocess.run(words, input=b"", capture_output=True)
    assert b'"ready"' in ran.stdout
    assert not mark.exists()


def test_a_child_imports_ours(mark: Path) -> None:
    child = Child(methodcaller("send", "done"))
    try:
        assert child.connection.recv() == "done"
    finally:
        child.end()
    assert not mark.exists()


def test_loaders_import_theirs(mark: Path) -> None:
    for words in (interpreter.of_package("ccplane.loader"), bpf_program.command()):
        subprocess.run([*words, "no-object", "mine"], capture_output=True)
    assert not mark.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to make a cgroup")
def test_the_trial_of_real_time_imports_nothing(mark: Path) -> None:
    real_time.state.cache_clear()
    try:
        real_time.state()
    finally:
        real_time.state.cache_clear()
    assert not mark.exists()


def test_one_place_starts_interpreters() -> None:
    """Elsewhere `sys.executable` is only the folder of our programs, and each pool a safe one."""
    for file in (one for folder in SOURCES for one in (ROOT / folder).rglob("*.py")):
        name = str(file.relative_to(ROOT))
        if "/data/" in name or name in STARTS:
            continue
        text = file.read_text()
        for of in ("sys.executable", "get_context("):
            for line in (one for one in text.splitlines() if of in one):
                allowed = "Path(sys.executable)" if of == "sys.executable" else "interpreter.safe("
                assert allowed in line, f"{name}: {line}"
        imported = {
            each.name
            for one in ast.walk(ast.parse(text))
            if isinstance(one, ast.ImportFrom) and one.module == "concurrent.futures"
            for each in one.names
        }
        assert "ProcessPoolExecutor" not in imported or name in CONTEXTS, name
