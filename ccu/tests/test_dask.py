# SPDX-License-Identifier: Apache-2.0
"""Runs on Dask's workers: what becomes of a cell whose worker refuses it, or is lost."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed import Client, LocalCluster, get_worker

from ccu.campaigns import definition
from ccu.campaigns.cells import cells
from ccu.campaigns.engines import dask, remote
from ccu.campaigns.engines.dask import Dask
from ccu.campaigns.engines.job import Ended
from ccu.campaigns.folder import Folder
from ddu.console.problems import RefusedError, refusal

TEXT = "title: x\nbase: {testbed: virtual}\nfactors: {cc: [cubic, reno, bbr]}\nrepeats: 2\n"


class Silent:
    """A listener that says nothing."""

    def note(self, *_: object) -> None: ...

    started = stage = ended = note


def refused(_: remote.RemoteJob) -> remote.Done:
    return remote.Done(Ended(refusal=refusal("no iperf3", "install it")))


def refused_by_one(job: remote.RemoteJob) -> remote.Done:
    return refused(job) if get_worker().name == 0 else remote.Done(Ended())


def long(_: remote.RemoteJob) -> remote.Done:
    time.sleep(1)
    return remote.Done(Ended())


@pytest.fixture
def cluster() -> Iterator[LocalCluster]:
    """Two workers, 0 and 1, in this process."""
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None,
        resources={remote.CORE: 1},
    ) as made:  # fmt: skip
        yield made


@pytest.fixture
def engine(cluster: LocalCluster, tmp_path: Path) -> Iterator[Dask]:
    file = tmp_path / "x.yaml"
    file.write_text(TEXT)
    token = tmp_path / "token"
    token.touch()
    campaign = definition.read(file)
    with Client(cluster) as client:
        yield Dask(client, Folder.make(tmp_path / "campaign-x-only", campaign), token)


def errors(engine: Dask) -> list[str | None]:
    planned = cells(engine._folder.campaign)
    return [one.error for one in engine.attempts(iter(planned), Silent())]


def test_what_one_worker_refuses_another_does(
    engine: Dask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "perform", refused_by_one)
    assert errors(engine) == [None] * 6


def test_a_cell_that_every_worker_refuses_has_no_result(
    engine: Dask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "perform", refused)
    assert errors(engine) == ["no iperf3. Install it"] * 6


def test_a_campaign_ends_when_its_last_worker_is_lost(
    engine: Dask, cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "perform", long)
    monkeypatch.setattr(dask, "_PATIENCE_S", 0.2)
    attempts = engine.attempts(iter(cells(engine._folder.campaign)), Silent())
    engine._submit(next(iter(cells(engine._folder.campaign))), ())
    cluster.scale(0)
    with pytest.raises(RefusedError, match="no worker with a testbed is left"):
        next(attempts)


def test_a_campaign_ends_when_the_scheduler_is_lost(
    engine: Dask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_: object, **__: object) -> None:
        raise dask.FuturesCancelledError([])

    monkeypatch.setattr(remote, "perform", long)
    monkeypatch.setattr(dask, "wait", lost)
    with pytest.raises(RefusedError, match=r"(?s)the scheduler is gone.*esume the campaign"):
        errors(engine)
