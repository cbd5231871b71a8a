# SPDX-License-Identifier: Apache-2.0
"""Scenarios and configurations as nr-link resolves them, which alone reads them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from ccu.host import programs
from ddu.console.problems import CommandError, Problem, RefusedError, refusal

STANDARD_INPUT = "-"
"""The file of a problem in a configuration, which nr-link reads from its standard input."""

_PROBLEMS = ("--problems", "json")

_scenarios: dict[tuple[Path, int], dict[str, Any]] = {}
"""The answers of nr-link, by the file and when it was changed last."""


def scenario(file: Path) -> dict[str, Any]:
    """Return what a scenario sets, without absent keys (docs/nr-link.md). Raises RefusedError."""
    changed_ns = file.stat().st_mtime_ns if file.exists() else 0
    key = (file.absolute(), changed_ns)
    if key not in _scenarios:
        _scenarios[key] = _scenario(file.absolute())
    return _scenarios[key]


def radio(config: dict[str, Any]) -> dict[str, Any] | None:
    """Check a configuration and its scenario; return the resolved radio. Raises RefusedError."""
    scenario(Path(config["scenario"]))
    resolved: dict[str, Any] | None = _checked(_text(config))["radio"]
    return resolved


def warnings(config: dict[str, Any]) -> list[Problem]:
    """Return what nr-link accepts and takes for a mistake. Raises RefusedError."""
    checked = _checked(_text(config))
    return list(map(Problem.from_json, checked["warnings"]))


def capacity(config: dict[str, Any], seconds: float, interval_ms: int) -> str:
    """Return the CSV text of `nr-link capacity`. Raises RefusedError."""
    options = [f"--seconds={seconds!r}", "--interval-ms", str(interval_ms)]
    words = ["capacity", "--config", STANDARD_INPUT, *options, *_PROBLEMS]
    return ask(words, _text(config))


def queue_managers() -> dict[str, str]:
    """Return the AQMs that nr-link has by name, each with its summary."""
    return {one["name"]: one["summary"] for one in json.loads(ask(["list", "aqm"]))}


def summaries(files: Sequence[Path]) -> dict[str, str]:
    """Return what each scenario says of itself, by the file's name. Raises RefusedError."""
    answers = map(json.loads, ask(["scenario", *map(str, files), *_PROBLEMS]).splitlines())
    return {file.stem: one["summary"] for file, one in zip(files, answers, strict=True)}


def radio_schema() -> dict[str, Any]:
    """Return the JSON Schema of the key `radio` of a configuration."""
    schema: dict[str, Any] = json.loads(ask(["schema", "radio"]))
    return schema


def _scenario(file: Path) -> dict[str, Any]:
    resolved: dict[str, Any] = json.loads(ask(["scenario", str(file), *_PROBLEMS]))
    for name in resolved["files"]:
        if Path(name).is_absolute() or ".." in Path(name).parts:
            rule = f"{name} is not in the scenario's folder, and runs keep a copy of both"
            raise refusal(rule, "put it beside the scenario", file=file)
    return resolved


def _text(config: dict[str, Any]) -> str:
    """Return a configuration as YAML, which has all that a user's may hold, such as dates."""
    return str(yaml.dump(config, Dumper=yaml.CSafeDumper, sort_keys=False))


@cache
def _checked(config: str) -> dict[str, Any]:
    resolved: dict[str, Any] = json.loads(
        ask(["check", "--config", STANDARD_INPUT, "--json", *_PROBLEMS], config)
    )
    return resolved


def ask(words: Sequence[str], given: str = "") -> str:
    """Return what nr-link prints on standard output.

    Raises RefusedError for problems that it reports, and CommandError if it fails otherwise.
    """
    program = programs.require("nr-link")
    answer = subprocess.run([program, *words], input=given, capture_output=True, text=True)
    if answer.returncode == 0:
        return answer.stdout
    if answer.stderr.startswith("["):
        raise RefusedError(map(Problem.from_json, json.loads(answer.stderr)))
    reason = answer.stderr.strip() or f"it ended with code {answer.returncode}"
    failed = f"{program} {words[0]} failed: {reason}"
    if answer.returncode == RefusedError.exit_code:  # It does not know the words.
        failed += f"\nIt may be of another version: {programs.install_hint('nr-link')}"
    raise CommandError(failed)
