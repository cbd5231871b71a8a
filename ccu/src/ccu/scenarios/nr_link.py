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
    resolved: dict[str, Any] | None = _checked(yaml.safe_dump(config, sort_keys=False))["radio"]
    return resolved


def capacity(config: dict[str, Any], seconds: float, interval_ms: int) -> str:
    """Return the CSV text of `nr-link capacity`. Raises RefusedError."""
    options = [f"--seconds={seconds!r}", "--interval-ms", str(interval_ms)]
    text = yaml.safe_dump(config, sort_keys=False)
    return _ask(["capacity", "--config", STANDARD_INPUT, *options], text)


def queue_managers() -> dict[str, str]:
    """Return the AQMs that nr-link has by name, each with its summary."""
    words = [programs.require("nr-link"), "list", "aqm"]
    listed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return {one["name"]: one["summary"] for one in json.loads(listed)}


def _scenario(file: Path) -> dict[str, Any]:
    resolved: dict[str, Any] = json.loads(_ask(["scenario", str(file)]))
    for name in resolved["files"]:
        if Path(name).is_absolute() or ".." in Path(name).parts:
            rule = f"{name} is not in the scenario's folder, and runs keep a copy of both"
            raise refusal(rule, "put it beside the scenario", file=file)
    return resolved


@cache
def _checked(config: str) -> dict[str, Any]:
    resolved: dict[str, Any] = json.loads(
        _ask(["check", "--config", STANDARD_INPUT, "--json"], config)
    )
    return resolved


def _ask(words: Sequence[str], given: str = "") -> str:
    command = [programs.require("nr-link"), *words, "--problems", "json"]
    answer = subprocess.run(command, input=given, capture_output=True, text=True)
    if answer.returncode == 0:
        return answer.stdout
    if answer.returncode != RefusedError.exit_code:
        raise CommandError(f"nr-link {words[0]} failed: {answer.stderr.strip()}")
    raise RefusedError(map(Problem.from_json, json.loads(answer.stderr)))
