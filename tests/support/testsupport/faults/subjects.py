# SPDX-License-Identifier: Apache-2.0
"""The commands into which faults are injected: what they need, and what must hold afterwards."""

from __future__ import annotations

import json
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any, ClassVar

from ddu.run.find import runs_under
from ddu.run.integrity import described, files_of, regular_files
from ddu.run.manifest import read_content, write_manifest
from testsupport.synthetic_run import steady

MS = 1_000_000


class Subject(ABC):
    """A command in a folder of its own."""

    name: ClassVar[str]
    command: str
    """The command, in the folder."""
    warning = ""
    """A warning by which a command that succeeds says that it has made less."""

    @abstractmethod
    def prepare(self, folder: Path) -> None:
        """Make the folder that each injection gets a copy of."""

    @abstractmethod
    def results(self, folder: Path) -> Any:
        """Return what the command has made, to be compared; None if it has made nothing.

        Raises AssertionError for what is half-written.
        """

    def before_next(self, folder: Path) -> None:  # noqa: B027 - most need nothing
        """Make the next command possible where the first has succeeded."""

    def remains(self, folder: Path, rebooted: bool) -> list[str]:
        """Return what killed commands have left, which the next one removes.

        Records of resources do not survive a reboot: the space of a run's last record stays in it.
        """
        patterns = [".analysis-*", ".import-*", "*.part"]
        if not rebooted:
            patterns.append(".run.json.reserved")
        return [str(one.relative_to(folder)) for each in patterns for one in folder.rglob(each)]


def verified(folder: Path) -> Iterator[Path]:
    """Yield the runs below that are whole results. Raises AssertionError for a broken one."""
    from ddu.verify import verify

    for run in runs_under(folder):
        (one,) = verify(run)
        assert one.outcome in ("whole", "unfinished"), f"verify says {one.outcome}: {one.problems}"
        if one.outcome == "whole":
            yield run


def tables_of(run: Path) -> dict[str, str] | None:
    """Return the digests of the run's tables as CSV; None if it is not analysed."""
    file = run / "summary.json"
    if not file.exists():
        return None
    files = files_of(json.loads(file.read_bytes())) or {}
    return {name: one["sha256"] for name, one in files.items() if name.endswith(".csv")}


class Analyze(Subject):
    """An analysis that replaces the results of another one."""

    name = "analyze"
    command = "ddu analyze --no-report --bin 50ms run"

    def prepare(self, folder: Path) -> None:
        from ddu.api import analyze

        run = recorded(folder / "run")
        analyze(run, 50 * MS, report=False)
        self._after = tables_of(run)
        analyze(run, 20 * MS, report=False)
        self._before = tables_of(run)

    def results(self, folder: Path) -> Any:
        (run,) = verified(folder)
        tables = tables_of(run)
        assert tables in (None, self._before, self._after), "the tables are of neither analysis"
        return tables if tables == self._after else None


class Import(Subject):
    """An import of two captures."""

    name = "import"
    command = (
        "ddu import foreign --runs runs --direction dl --one-clock "
        "--server foreign/server.pcap --ue foreign/ue.pcap"
    )

    def prepare(self, folder: Path) -> None:
        run = recorded(folder / "made")
        (folder / "foreign").mkdir()
        (run / "raw/sender.pcap").rename(folder / "foreign/server.pcap")
        (run / "raw/receiver.pcap").rename(folder / "foreign/ue.pcap")
        shutil.rmtree(run)

    def results(self, folder: Path) -> Any:
        runs = list(verified(folder / "runs"))
        assert len(runs) == sum(1 for _ in (folder / "runs").glob("[!.]*")), "a run is not whole"
        return [files_of(read_content(run)) for run in runs] or None

    def before_next(self, folder: Path) -> None:
        for run in (folder / "runs").glob("[!.]*"):
            shutil.rmtree(run)


class Campaign(Subject):
    """A campaign of one run, which analyses it and drops its captures."""

    name = "campaign"
    command = "ccu campaign run one.yaml --output out --keep tables"
    warning = "its raw data stay"

    def prepare(self, folder: Path) -> None:
        (folder / "one.yaml").write_text(
            "title: One\nbase: {testbed: replayed, duration: 1s}\n"
            "factors: {cc: [cubic]}\nretries: 1\n"
        )

    def results(self, folder: Path) -> Any:
        runs = list(verified(folder / "out"))
        for run in runs:
            kept = read_content(run).get("kept")
            assert kept is None or tables_of(run), "raw data were dropped before there were tables"
        reduced = [run for run in runs if read_content(run).get("kept")]
        return sorted(str(tables_of(run)) for run in reduced) or None


class Run(Subject):
    """A run in virtual time."""

    name = "run"
    command = (
        "ccu run --no-report --testbed virtual --cc cubic --scenario static --prb 24 --duration 1s "
        "--output out"
    )

    def prepare(self, folder: Path) -> None:
        pass

    def results(self, folder: Path) -> Any:
        runs = list(verified(folder / "out"))
        names = ("raw/sender.pcap", "raw/receiver.pcap", "raw/mac.csv", "raw/sockets-server.pcap")
        made = [files_of(read_content(run)) or {} for run in runs]
        return [[one[name]["sha256"] for name in names] for one in made] or None

    def before_next(self, folder: Path) -> None:
        for run in list(verified(folder / "out")):
            shutil.rmtree(run)


class Publish(Subject):
    """A run published in a store, which all injections share."""

    name = "publish"

    def __init__(self, store: Callable[[], AbstractContextManager[Any]]) -> None:
        self._stack = ExitStack()
        self._url = self._stack.enter_context(store()).url()
        self.command = f"ddu publish --store {self._url} run"

    def prepare(self, folder: Path) -> None:
        from ddu.api import analyze

        analyze(recorded(folder / "run"), report=False)

    def results(self, folder: Path) -> Any:  # noqa: ARG002
        import psycopg

        with psycopg.connect(self._url, autocommit=True) as connection:
            exists = connection.execute("SELECT to_regclass('testbed.run')").fetchone()
            if exists is None or exists[0] is None:
                return None
            runs = connection.execute("SELECT run_id, state FROM testbed.run").fetchall()
            rows = connection.execute("SELECT count(*) FROM testbed.transport_sample").fetchone()
            assert rows is not None
            assert len(runs) <= 1, "the run is in the store more than once"
            assert bool(runs) == bool(rows[0]), "the store has a half of the run"
            return rows[0] if runs else None

    def before_next(self, folder: Path) -> None:
        from ddu.store.publish import unpublish

        if self.results(folder) is not None:
            unpublish(self._url, "synthetic")

    def close(self) -> None:
        self._stack.close()


def recorded(run: Path) -> Path:
    """Make a run with the digests of its raw data."""
    steady(40).write(run)
    write_manifest(run, read_content(run), described(run, regular_files(run / "raw")))
    return run
