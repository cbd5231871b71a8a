# SPDX-License-Identifier: Apache-2.0
"""The rest of a site beside docs/: a navigation, links that leave docs/, the Python reference."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

START = "README.md"
PYTHON = "python.md"
_SECTION = re.compile(r"^\| (?P<name>[^|\[\]]+) \| \|$")
_ENTRY = re.compile(r"^\| \[(?P<name>[^]]+)]\((?P<target>[^)]+)\) \|")
_LINK = re.compile(r"(?P<text>!?\[(?:[^][]|\[[^]]*])*])\((?P<target>[^)\s]+)\)")
_REFERENCE = """# Python
What a notebook or a script may import. [Versions](releases.md) keep it as it is.

::: over5g.run
::: over5g.runs.Run
::: ddu.api.open_run
::: ddu.api.Run
"""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Make the navigation of the tables of the start page: one section a table."""
    lines = (Path(config.docs_dir) / START).read_text().splitlines()
    sections: list[tuple[str, list[dict[str, str]]]] = []
    for line in lines:
        if section := _SECTION.match(line):
            sections.append((section["name"].capitalize(), []))
        elif (entry := _ENTRY.match(line)) and not _leaves(START, entry["target"]):
            sections[-1][1].append({entry["name"].removesuffix(".md"): entry["target"]})
    sections[0][1].insert(0, {"Overview": START})
    config.nav = [*({name: entries} for name, entries in sections), {"Python": PYTHON}]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the Python reference, which is made of docstrings."""
    files.append(File.generated(config, PYTHON, content=_REFERENCE))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: object) -> str:
    """Let links that leave docs/ lead to the repository; without its address they are text."""

    def outside(link: re.Match[str]) -> str:
        place = _leaves(page.file.src_uri, link["target"])
        if place is None:
            return link[0]
        if not config.repo_url:
            return link["text"].lstrip("!")[1:-1]
        return f"{link['text']}({config.repo_url.rstrip('/')}/blob/main/{place})"

    return _LINK.sub(outside, markdown)


def _leaves(page: str, target: str) -> str | None:
    """Return the place in the repository that a link leads to, if that is outside of docs/."""
    if "://" in target or target.startswith(("#", "mailto:")):
        return None
    place = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), target))
    return None if place == "docs" or place.startswith("docs/") else place
