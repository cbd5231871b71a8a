# SPDX-License-Identifier: Apache-2.0
"""The parts of a run that stay on disk: raw data go when the results made from them are complete.

run.json lists what is dropped, with digests, before anything is: a crash in between leaves too
much, never too little.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from ccu.campaigns.analyst import Analyst
from ccu.scenarios import nr_link
from ddu.campaign.definition import Keep
from ddu.console.ownership import give_to_sudo_user
from ddu.console.problems import RefusedError
from ddu.run.durable import sweep, sync_tree
from ddu.run.integrity import described
from ddu.run.manifest import read_content, write_manifest
from ddu.run.memory import shortage
from ddu.tables.results import is_whole

_LESS = get_args(Keep)


def level_of(content: dict[str, Any]) -> Keep:
    """Return what is kept of the run with this run.json."""
    kept = content.get("kept") or {}
    level: Keep = kept.get("level", "raw")
    return level


def has(content: dict[str, Any], keep: Keep) -> bool:
    """Return whether the run with this run.json still has all that `keep` says."""
    return _LESS.index(level_of(content)) <= _LESS.index(keep)


def reduce(run: Path, keep: Keep, analyst: Analyst) -> str | None:
    """Analyse a finished run, and keep what `keep` says. Return why everything stays, or None.

    What it writes belongs to the user who called sudo.
    """
    why = _reduced(run, keep, analyst)
    give_to_sudo_user(run)
    return why


def _reduced(run: Path, keep: Keep, analyst: Analyst) -> str | None:
    try:
        content = read_content(run)
    except RefusedError as error:
        return f"its raw data stay: {error}"
    if content.get("status") != "finished":
        return None
    level = level_of(content)
    if level == "raw" != keep and not is_whole(run):
        if sentence := shortage(run):  # Else the kernel would kill this campaign, or another's run.
            return f"its raw data stay: {sentence}"
        began_s = time.monotonic()
        answer = analyst.analyze(run)
        if answer.problem:
            return f"its raw data stay, as it cannot be analysed: {answer.problem}"
        if cost := content.get("cost"):
            cost["analysis_s"] = round(time.monotonic() - began_s, 3)
            cost["analysis_cpu_s"] = answer.cpu_s
    try:
        if level != keep and has(content, keep):
            _declare(run, content, keep)
        _drop(run, content)
    except OSError as error:
        return f"its raw data stay, as the disk refuses: {error.strerror}"
    return None


def _declare(run: Path, content: dict[str, Any], keep: Keep) -> None:
    """Write into run.json what is kept, and what is not."""
    sweep(run, ".analysis-")
    files = sorted(_unwanted(run, content, keep))
    sync_tree(run, set(files))
    before = (content.get("kept") or {}).get("dropped", [])
    dropped = before + described(run, files)
    content["kept"] = {"level": keep, "dropped": dropped}
    write_manifest(run, content)


def _unwanted(run: Path, content: dict[str, Any], keep: Keep) -> Iterator[Path]:
    everything = (path for path in run.rglob("*") if path.is_file() and not path.is_symlink())
    if keep == "summary":
        scenario = run / "raw" / "scenario.yaml"
        kept = {run / name for name in ("run.json", "summary.json")} | {scenario}
        if scenario.is_file():
            kept |= {scenario.parent / name for name in nr_link.scenario(scenario)["files"]}
        yield from (path for path in everything if path not in kept)
        return
    samples = {run / name for name in _samples(content)}
    yield from (path for path in everything if path in samples or _is_capture(run, path))


def _samples(content: dict[str, Any]) -> Iterator[str]:
    """Yield the files of samples that run.json names."""
    named = [*content.get("sockets", ()), content.get("mac"), content.get("link")]
    yield from (
        one["file"]
        for one in [*named, content.get("cc_trace"), *content.get("cc_traces", [])]
        if one
    )


def _is_capture(run: Path, path: Path) -> bool:
    return (run / "raw") in path.parents and path.suffix == ".pcap"


def _drop(run: Path, content: dict[str, Any]) -> None:
    """Remove the files that run.json says to be dropped, as far as they are still there."""
    for one in (content.get("kept") or {}).get("dropped", ()):
        if ".." not in (file := Path(one["file"])).parts and not file.is_absolute():
            (run / file).unlink(missing_ok=True)
    for folder in sorted(run.rglob("*"), reverse=True):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
