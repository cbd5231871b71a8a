# SPDX-License-Identifier: Apache-2.0
"""Logs as people paste them: quoted, in fences, indented or below a prompt, they read the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from ddu.cli.main import app
from ddu.console.problems import RefusedError
from ddu.readers.foreign_csv import ForeignCsv
from ddu.readers.formats import read_log
from ddu.readers.pasted import undressed

SEEDS = Path(__file__).with_name("seeds")
LOGS = [
    "logs/gnb-2023-05.log", "logs/gnb-2026-08.log", "logs/gnb-readings.log", "logs/l1-1.log",
    "logs/rrc-1.log", "logs/ue-1.log", "logs/o1-stats.jsonl", "logs/ss-bbr.txt",
    "logs/drive-1.csv", "logs/xapp-flexric.csv", "logs/wireless-1.csv", "logs/phone-1.txt",
    "android/nsa-fallback.txt", "android/sa-two-sims.txt",
]  # fmt: skip
"""At least one of each text format, recorded."""


def before_each(text: str, mark: str) -> str:
    return "".join(f"{mark}{line}" for line in text.splitlines(keepends=True))


DRESSES: dict[str, Callable[[str], str]] = {
    "indented": lambda text: before_each(text, "  "),
    "by tabs": lambda text: before_each(text, "\t"),
    "quoted": lambda text: before_each(text, "> "),
    "quoted twice": lambda text: "Ada wrote:\n" + before_each(text, ">> "),
    "fenced": lambda text: f"The gNB, 1 of 2 says:\n\n```text\n{text}```\nWhat is wrong?\n",
    "fenced in a list": lambda text: "- so:\n" + before_each(f"```\n{text}```\n", "  "),
    "fenced and quoted": lambda text: before_each(f"Hi,\n~~~\n{text}~~~\n", "> "),
    "half a fence": lambda text: f"{text}```\n",
    "below a command": lambda text: f"oai@gnb:~/ran$ cat log\n{text}oai@gnb:~/ran$ \n",
    "below root's command": lambda text: f"[root@gnb ran]# cat log\n{text}",
    "below a bare prompt": lambda text: f"$ cat log\n{text}",
    "with a prompt in each line": lambda text: before_each(text, "root@gnb:/opt# "),
    "with the ends of lines of Windows": lambda text: f"> ```\n{before_each(text, '> ')}> ```\n"
    .replace("\n", "\r\n"),
}  # fmt: skip


@pytest.mark.parametrize("dress", DRESSES)
@pytest.mark.parametrize("log", LOGS)
def test_a_pasted_log_is_recognised_and_reads_the_same(
    tmp_path: Path, log: str, dress: str
) -> None:
    text = (SEEDS / log).read_text()
    plain = read_log(SEEDS / log)
    file = tmp_path / "pasted.txt"
    file.write_bytes(DRESSES[dress](text).encode())
    pasted = read_log(file)
    assert plain is not None
    assert pasted is not None
    assert pasted[0].name == plain[0].name
    pd.testing.assert_frame_equal(pasted[1].table, plain[1].table)


def test_an_excerpt_whose_lines_are_all_indented_is_described(tmp_path: Path) -> None:
    """It was an unknown format."""
    file = tmp_path / "excerpt.txt"
    file.write_text(before_each((SEEDS / "logs" / "gnb-2026-08.log").read_text(), "  "))
    said = CliRunner().invoke(app, ["describe", str(file)])
    assert said.exit_code == 0
    assert "oai-gnb-stdout" in said.stdout


def test_an_indented_block_below_prose_is_read(tmp_path: Path) -> None:
    text = (SEEDS / "logs" / "gnb-2024-09.log").read_text()
    file = tmp_path / "issue.md"
    file.write_text(f"My gNB prints:\n\n{before_each(text, '    ')}\nand stops.\n")
    log = read_log(file)
    assert log is not None
    pd.testing.assert_frame_equal(
        log[1].table,
        read_log(SEEDS / "logs" / "gnb-2024-09.log")[1].table,  # type: ignore[index]
    )


def test_every_line_stays_in_its_place() -> None:
    for dress in DRESSES.values():
        content = dress("a\n  b\n\n    c\n").encode()
        assert undressed(content).count(b"\n") == content.count(b"\n")


def test_indentation_within_a_paragraph_is_kept() -> None:
    assert undressed(b"  a\n    b\n\n   c\n") == b"a\n  b\n\nc\n"


def test_a_log_without_dress_is_returned_as_it_is() -> None:
    content = b"UE RNTI 1234\n  b > c\n### 1700000000\n"
    assert undressed(content) is content


def test_a_mistake_has_the_line_of_the_users_file(tmp_path: Path) -> None:
    file = tmp_path / "pasted.md"
    file.write_text("It says:\n\n```\ntime,rsrp\n1,-80\n2\n```\n")
    with pytest.raises(RefusedError, match=r"pasted\.md:6: 1 fields, the header has 2"):
        list(ForeignCsv(file).rows())
