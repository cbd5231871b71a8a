# SPDX-License-Identifier: Apache-2.0
"""Runs that another campaign has made: on a repeatable testbed, the same experiment with the same
seed and software gives the same run, so that campaigns share it (docs/campaigns.md)."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from ccu import congestion, scenarios
from ccu.campaigns.cells import Cell
from ccu.campaigns.folder import Folder
from ccu.campaigns.keeping import has, level_of
from ccu.host import cc_files
from ccu.runs import manifest
from ccu.spec.experiment import Experiment
from ccu.testbeds import driver_of
from ddu.campaign.attempts import Attempt
from ddu.console.ownership import give_to_sudo_user
from ddu.console.problems import RefusedError
from ddu.run.durable import sync_tree
from ddu.run.integrity import sha256_of
from ddu.run.manifest import read_content, write_manifest


class Neighbours:
    """The results of the campaigns in the same folder, by what determines them."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._software: dict[str, dict[str, Any]] = {}

    @cached_property
    def _runs(self) -> dict[str, Path]:
        """Read only when a run is to do: there may be thousands."""
        return dict(_results(self._folder, self._sources))

    @cached_property
    def _sources(self) -> dict[str, Path]:
        """The sources of the congestion controls that have a name."""
        return congestion.sources()

    def give(self, cell: Cell) -> bool:
        """Put a run like that of `cell` into its folder; return whether there is one.

        One that was changed, since it was found, is none.
        """
        experiment = cell.experiment
        if not _is_determined(experiment, self._sources):
            return False
        source = self._runs.get(_key(experiment.record(), self._software_of(experiment)))
        if source is None:
            return False
        try:
            content = read_content(source)
        except RefusedError:
            return False
        _share(source, content, self._folder.prepare(cell) / source.name)
        return True

    def _software_of(self, experiment: Experiment) -> dict[str, Any]:
        testbed = experiment.testbed.name
        if testbed not in self._software:
            self._software[testbed] = manifest.software_of(experiment)
        return self._software[testbed]


def _is_determined(experiment: Experiment, sources: Mapping[str, Path]) -> bool:
    """Return whether experiment and software decide the run: no file of the user's does."""
    if experiment.cc_files or experiment.traffic_files or not driver_of(experiment).repeatable:
        return False
    parameters = (stage.experiment.cc_params for stage in experiment.stages)
    if any("/" in value for each in parameters for value in each.values()):  # A file.
        return False
    if not all(_is_ours(sources[name]) for name in sources.keys() & experiment.servers_ccs):
        return False
    return scenarios.locate(experiment.scenario, experiment.seed).parent == scenarios.LIBRARY


def _is_ours(source: Path) -> bool:
    """Return whether the revision determines the source of a congestion control."""
    return not {cc_files.SHIPPED, cc_files.POLICIES}.isdisjoint(source.parents)


def _has_our_sources(content: dict[str, Any], ours: Mapping[str, str]) -> bool:
    """Return whether the congestion controls of a run had the sources whose digests are `ours`."""
    used = content.get("cc_implementation", {})
    return all(ours.get(name) == one["sha256"] for name, one in used.items() if "sha256" in one)


def _results(folder: Folder, sources: Mapping[str, Path]) -> Iterator[tuple[str, Path]]:
    """Yield the key and directory of each result that has all that this campaign keeps."""
    ours = {name: sha256_of(file) for name, file in sources.items() if _is_ours(file)}
    for neighbour in _beside(folder):
        for file in neighbour.path.glob("runs/*/*/run.json"):
            attempt = Attempt.read(file)
            if attempt is None or not attempt.counts:
                continue
            try:
                content = read_content(file.parent)
            except RefusedError:  # of a newer version
                continue
            software = content.get("software", {})
            known = software.get("git_revision") and software.get("git_modified") is False
            # A campaign at work may have yet to drop what it does not keep.
            settled = level_of(content) != "raw" or neighbour.campaign.keep == "raw"
            kept = has(content, folder.campaign.keep)
            if known and settled and kept and _has_our_sources(content, ours):
                yield _key(content["experiment"], software), attempt.path


def _beside(folder: Folder) -> Iterator[Folder]:
    """Yield the other campaigns in the same folder that can be read."""
    for path in sorted(folder.path.parent.glob("campaign-*")):
        try:
            neighbour = Folder.open(path)
        except RefusedError:
            continue
        if path != folder.path:
            yield neighbour


def _key(experiment: dict[str, Any], software: dict[str, Any]) -> str:
    # A repeatable testbed has a kernel of its own.
    decisive = {name: version for name, version in software.items() if name != "kernel"}
    return json.dumps([experiment, decisive], sort_keys=True)


def _share(source: Path, content: dict[str, Any], target: Path) -> None:
    """Make `target` a run directory with the files of `source`, which take no space again.

    run.json, which has `content`, is the last: without it the directory counts as no run.
    """
    if not (target / "run.json").exists():
        shutil.rmtree(target, ignore_errors=True)
    others = shutil.ignore_patterns("run.json")
    # Links stay links: a program that ran contained may have put them into the raw data.
    shutil.copytree(source, target, symlinks=True, ignore=others, copy_function=_link_or_copy)
    sync_tree(target)
    origin = content.get("shared_from", str(source.relative_to(source.parents[3])))
    write_manifest(target, content | {"shared_from": origin})
    give_to_sudo_user(target)


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # A file system without hard links.
        shutil.copy2(source, target)
