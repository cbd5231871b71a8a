# SPDX-License-Identifier: Apache-2.0
"""The language check of `make check` finds what it should, and passes plain text."""

import subprocess
import sys
from pathlib import Path

import pytest

CHECK = Path(__file__).parents[1] / ".ci" / "language"


def check(file: Path) -> tuple[int, list[str]]:
    """Return the check's exit code and lines for one file."""
    done = subprocess.run(
        [sys.executable, CHECK, file], capture_output=True, text=True, check=False
    )
    assert not done.stderr
    return done.returncode, [line.removeprefix(f"{file}:") for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("name", "text", "finding"),
    [
        ("module.py", '"""What a run costs."""\n', "1: 'What …'"),
        ("module.py", 'COUNT = 1\n"""Of all runs."""\n', "2: 'Of …'"),
        ("module.py", "# Begin anew.\n", "1: 'anew'"),
        ("module.py", 'print("the log tells why")\n', "1: 'tells'"),
        ("module.py", 'print(f"{1} run tells why")\n', "1: 'tells'"),
        ("module.py", "found = 1\n", "1: 'found'"),
        ("place.py", "COUNT = 1\n", "1: 'place.py'"),
        ("module.rs", "/// That of the server.\nfn port() {}\n", "1: 'That of …'"),
        ("module.rs", 'fn say() { println!("told"); }\n', "1: 'told'"),
        ("parts.rs", "fn say() {}\n", "1: 'parts.rs'"),
        ("module.c", "int x; /* as told */\n", "1: 'told'"),
        ("page.md", "A packet\nis sent again.\n", "2: 'is sent again'"),
        ("page.md", "word " * 41, "1: 'word word word word word word …'"),
        ("run.sh", "# in kindness first\n", "1: 'in kindness'"),
    ],
)
def test_a_bad_sample_is_reported_with_its_line(
    name: str, text: str, finding: str, tmp_path: Path
) -> None:
    file = tmp_path / name
    file.write_text(text)
    code, lines = check(file)
    assert code == 1
    assert len(lines) == 1
    assert lines[0].startswith(finding + ": ")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "module.py",
            '"""Return the cost of a run."""\n\nprint("none was found")\nopen("x").tell()\n',
        ),
        (
            "module.rs",
            "/// Returns the port.\n///\n/// What it costs stands there.\nfn told() {}\n",
        ),
        (
            "page.md",
            "`tells` is a name.\n\n" + "| cell " * 60 + "|\n\n```\n" + "word " * 60 + "\n```\n",
        ),
        ("capture.pcap", "told"),
    ],
)
def test_plain_text_names_and_tables_pass(name: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(text)
    assert check(file) == (0, [])
