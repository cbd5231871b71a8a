# SPDX-License-Identifier: Apache-2.0
"""The places of what is wrong with a scenario, or with the options of its commands."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from ccu.cli.main import app
from ccu.scenarios import LIBRARY
from ddu.console.problems import RefusedError


def refused(*words: str) -> str:
    """Return the message of a command that is refused."""
    ran = CliRunner().invoke(app, ["scenario", *words])
    assert isinstance(ran.exception, RefusedError), ran.output
    return str(ran.exception)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name: x\nradio: [1]\nfoo: 2\n", ":2: radio: the value is not a mapping. "),
        ("name: x\nradio: [1\nfoo: 2\n", ":3: illegal placement of ':' indicator. "),
        ("- 1\n- 2\n", ":1: the value is not a mapping. See docs/scenarios.md"),
        ("name: x\nname: y\n", ":2: the key name occurs twice. Keep one of them"),
    ],
)
@pytest.mark.parametrize("command", ["validate", "show"])
def test_yaml_that_is_not_a_scenario(
    tmp_path: Path, command: str, text: str, expected: str
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    assert refused(command, str(file)).startswith(f"{file}{expected}")


def test_a_duration_that_is_not_a_number(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    lines = (LIBRARY / "rome-moderate.yaml").read_text().splitlines()
    at = next(at for at, line in enumerate(lines) if line.startswith("duration_s:"))
    lines[at] = "duration_s: long"
    file.write_text("\n".join(lines))
    said = f"{file}:{at + 1}: duration_s: the value is not a number"
    assert refused("show", str(file)).startswith(said)
    del lines[at]
    file.write_text("\n".join(lines))
    assert "the key duration_s is missing. Add it" in refused("show", str(file))


@pytest.mark.parametrize("command", ["show rome-moderate", "export csv rome-moderate"])
def test_a_value_is_named_by_its_flag(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert refused(*command.split(), "--prb", "107").startswith("--prb: 107 PRB is not")
    assert not list(tmp_path.rglob("*.*"))


def test_a_directory_in_place_of_a_trace(tmp_path: Path) -> None:
    (tmp_path / "trace").mkdir()
    (tmp_path / "mine.yaml").write_text(
        "schema: rf-scenario/1\nname: mine\nsummary: s\nsources: [a]\nlicense: CC0-1.0\n"
        "duration_s: 3\nat_end: loop\ncapacity:\n"
        "  dl: {trace: {file: trace, format: mahimahi}}\n  ul: {constant_mbps: 5}\n"
    )
    message = refused("validate", str(tmp_path / "mine.yaml"))
    assert message.startswith(f"{tmp_path / 'trace'}: is not a file")
