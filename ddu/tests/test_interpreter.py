# SPDX-License-Identifier: Apache-2.0
"""No interpreter of ours imports what lies in the folder in which it is started."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ddu import interpreter
from testsupport import hostile
from testsupport.prepared import BIN

# As a program of its own: multiprocessing starts its helpers once for a process.
IN_POOLS = """
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from ddu import interpreter

interpreter._HAS_OPTION = sys.argv[1] == "True"
if __name__ == "__main__":
    for method in ("spawn", "forkserver"):
        context = interpreter.safe(get_context(method))
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            print(pool.submit(len, "four").result())
"""
ANALYSIS = """
from pathlib import Path
from rich.console import Console
from ddu.campaign import analysis

if __name__ == "__main__":
    for way in ("spawn", "forkserver"):
        analysis._way_of_starting = lambda: way
        analysis.analyze_all(Console())([Path("no-run")])
    print("done")
"""
FOLLOWING = """
from ddu.store import following

if __name__ == "__main__":
    following.record_campaign = lambda *_: ("name", 1)
    one = following._Following("", None, print)
    print(one._publisher.submit(len, "done").result())
    one.stop()
    print("done")
"""


@pytest.fixture(params=[True, False] if sys.version_info >= (3, 11) else [False])
def with_option(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """The way of Python 3.11 and newer, and that of 3.10."""
    has: bool = request.param
    if not has and sys.version_info >= (3, 13):
        pytest.skip("there `python -c` imports before it runs the program")
    monkeypatch.setattr(interpreter, "_HAS_OPTION", has)
    return has


def outcome(command: list[str], folder: Path) -> str:
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return ran.stdout + ran.stderr


def test_a_command_imports_nothing_from_the_current_folder(
    tmp_path: Path, with_option: bool
) -> None:
    folder, mark = hostile.folder_in(tmp_path)
    code = "import json, sys; print(json.dumps(sys.argv[1:]))"
    assert outcome([*interpreter.of_code(code), "a", "-b"], folder) == '["a", "-b"]\n'
    tool = [*interpreter.of_package("json.tool"), "--compact", "-"]
    ran = subprocess.run(tool, cwd=folder, input="[1, 2]", capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("[1,2]\n", "")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "mine.py").write_text("import json, pickle; print('mine')")
    assert outcome(interpreter.of_file(str(tmp_path / "own" / "mine.py")), folder) == "mine\n"
    assert not mark.exists()


def test_what_pythonpath_names_is_imported(
    tmp_path: Path, with_option: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "named").mkdir()
    (tmp_path / "named" / "mine.py").write_text("print('mine')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "named"))
    assert outcome(interpreter.of_package("mine"), tmp_path) == "mine\n"


def test_a_pool_imports_nothing_from_the_current_folder(tmp_path: Path, with_option: bool) -> None:
    folder, mark = hostile.folder_in(tmp_path)
    program = tmp_path / "program.py"
    program.write_text(IN_POOLS)
    assert outcome([sys.executable, str(program), str(with_option)], folder) == "4\n4\n"
    assert not mark.exists()


@pytest.mark.parametrize("code", [ANALYSIS, FOLLOWING])
def test_our_pools_import_nothing_from_the_current_folder(tmp_path: Path, code: str) -> None:
    folder, mark = hostile.folder_in(tmp_path)
    (tmp_path / "program.py").write_text(code)
    said = outcome([sys.executable, str(tmp_path / "program.py")], folder)
    assert said.endswith("done\n")
    assert "Traceback" not in said
    assert not mark.exists()


@pytest.mark.parametrize("name", ["ccu", "ddu"])
def test_a_command_of_the_terminal_imports_nothing_from_there(tmp_path: Path, name: str) -> None:
    folder, mark = hostile.folder_in(tmp_path)
    assert outcome([str(BIN / name), "--version"], folder).startswith(name)
    assert not mark.exists()
