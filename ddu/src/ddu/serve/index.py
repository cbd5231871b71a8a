# SPDX-License-Identifier: Apache-2.0
"""The page that `ddu serve` begins with: campaigns, and runs with their main numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ddu.console.input_file import read_json
from ddu.report.templates import number, templates_of
from ddu.run.find import runs_under

MOST_RUNS = 500
"""The most runs that are listed: the newest."""
_CAMPAIGN = "campaign.json"


@dataclass(frozen=True)
class _Listed:
    name: str
    link: str
    """The path of its report or, if it has none, of its folder."""
    is_analysed: bool = False
    about: dict[str, Any] = field(default_factory=dict)


def index_page(root: Path) -> str:
    """Return the page for the runs in a folder and below; a campaign stands for its runs."""
    campaigns = sorted(_campaigns(root), key=lambda one: one.name)
    runs = sorted(_runs(root), key=lambda one: one.name, reverse=True)
    page = templates_of("ddu.serve").get_template("index.html.j2")
    return page.render(folder=root.resolve().name, campaigns=campaigns, runs=runs[:MOST_RUNS],
                       runs_count=len(runs))  # fmt: skip


def _campaigns(root: Path) -> Iterator[_Listed]:
    for file in (*root.glob(_CAMPAIGN), *root.glob(f"*/{_CAMPAIGN}")):
        content = _part(_content(file, root), "campaign")
        has_report = (file.parent / "report" / "report.html").exists()
        link = _link(file.parent, root, "report/report.html" if has_report else "")
        yield _Listed(file.parent.name, link, has_report, {"title": content.get("title", "")})


def _runs(root: Path) -> Iterator[_Listed]:
    for run in runs_under(root):
        if any((above / _CAMPAIGN).exists() for above in run.parents if root in above.parents):
            continue
        manifest, summary = _content(run / "run.json", root), _content(run / "summary.json", root)
        if not manifest:
            continue
        has_report = (run / "report.html").exists()
        yield _Listed(
            str(run.relative_to(root)),
            _link(run, root, "report.html" if has_report else ""),
            bool(summary) or has_report,
            {
                "scenario": _part(manifest, "experiment").get("scenario"),
                "status": manifest.get("status"),
                "verdict": summary.get("verdict") or manifest.get("verdict"),
                "goodput": _shown(summary.get("goodput_bps"), 1e-6),
                "rtt": _shown(_part(summary, "rtt_ms").get("p95"), 1.0),
            },
        )


def _shown(value: object, scale: float) -> str:
    return number(value * scale) if isinstance(value, (int, float)) else ""


def _part(content: dict[str, Any], key: str) -> dict[str, Any]:
    """Return the object under a key; empty if there is none."""
    part = content.get(key)
    return part if isinstance(part, dict) else {}


def _link(folder: Path, root: Path, file: str) -> str:
    place = folder.relative_to(root).as_posix()
    return f"/runs/{quote(place)}/{file}" if place != "." else f"/runs/{file}"


def _content(file: Path, root: Path) -> dict[str, Any]:
    """Return a JSON object within the folder; empty if there is none that can be read."""
    try:
        if root.resolve() not in file.resolve().parents:
            return {}
        content = read_json(file)
    except (OSError, ValueError, RuntimeError):
        return {}
    return content if isinstance(content, dict) else {}
