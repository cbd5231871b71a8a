# SPDX-License-Identifier: Apache-2.0
"""Whatever a file that one writes or gets is made of: it is read, or refused, and never more.

Seeds stand in seeds, by the reader that knows them, or are the project's own files; what once
crashed a reader is kept in seeds/crashed. DDU_FUZZ_EXAMPLES=100000 makes a long run of it (`make
fuzz`).
"""

from __future__ import annotations

import faulthandler
import shutil
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from ccu.campaigns import definition
from ccu.congestion import parameters
from ccu.congestion.policy import program
from ccu.host import child, policies
from ccu.recipes import recipe
from ccu.recipes.collect import recipe_of
from ccu.scenarios import radios, sets
from ccu.scenarios.sources import FORMATS, ImportOptions
from ccu.scenarios.sources import quadriga as source
from ccu.scenarios.sources.quadriga import _send_arrays
from ccu.scenarios.write import write_csv
from ccu.spec.radio import RADIO
from ccu.spec.resolve import collect, resolve_written
from ccu.spec.yaml_places import read_mapping
from ddu.campaign.load import load_campaign, read_definition
from ddu.console.problems import RefusedError
from ddu.installation import CHECKOUT
from ddu.reproductions.claims import read_papers
from ddu.reproductions.records import read_record
from ddu.run.manifest import read_manifest
from ddu.serve.index import index_page
from ddu.tables.results import TableMissing, is_whole, read_summary, read_table
from testsupport.changed_inputs import result_of, try_changes

assert CHECKOUT is not None
SEEDS = Path(__file__).parent / "seeds"
CRASHED = SEEDS / "crashed"
_OURS = {
    "run": "tests/golden_runs/*/run.json",
    "attempt": "tests/golden_runs/*/run.json",
    "summary": "tests/golden_runs/*/summary.json",
    "served": "tests/golden_runs/*/*.json",
    "record": "ddu/tests/data/upgrade/campaign-*.json",
    "campaign": "campaigns/*.yaml",
    "mapping": "campaigns/*.yaml",
    "claims": "campaigns/claims/quic.yaml",
    "published": "docs/reproductions/quic/record.json",
    "index": "rf-scenarios/measured/c*/index.yaml",
    "preset": "rf-scenarios/radios/*.yaml",
    "policy": "examples/*.py",
}
"""The files of the project that are seeds; all others stand in SEEDS."""


def imported(form: str, *kinds: Any, period_s: float | None = None) -> Callable[[Path], Any]:
    def read(file: Path) -> None:
        for kind in kinds or (None,):
            made = FORMATS[form].read(file, ImportOptions("x", kind=kind, period_s=period_s))
            for name, columns in made.columns.items():
                write_csv(file.with_name(name), columns)

    return read


def quietly(connection: Connection, send: Callable[[Connection], None] = _send_arrays) -> None:
    faulthandler.disable()  # pytest's, which would print where scipy ends the process
    send(connection)


def quadriga(file: Path) -> None:
    """Read it in a fork: a new interpreter for each example would take most of the time."""
    import_module("scipy.io")  # or each fork imports it
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(child, "get_context", lambda _: get_context("fork"))
        patch.setattr(source, "_send_arrays", quietly)
        imported("quadriga", period_s=1e-3)(file)


def imported_run(file: Path) -> None:
    (file.parent / "raw").mkdir(exist_ok=True)
    shutil.copyfile(file, file.parent / "raw" / "mac.csv")
    imported("oai")(file.parent)


def unpacked_recipe(file: Path) -> None:
    for run in recipe.read(file).runs:
        folder = file.parent / "run"
        shutil.rmtree(folder, ignore_errors=True)
        run.write(folder)


def record_and_runs(file: Path) -> None:
    assert CHECKOUT is not None
    shutil.copyfile(CHECKOUT / "docs/reproductions/quic/runs.csv", file.with_name("runs.csv"))
    read_record(file.parent)


def campaign_with(file: Path, place: str) -> None:
    """Read a campaign with one cell and one attempt, of which one is the file."""
    root = file.parent / "campaign"
    (root / "runs" / "cell" / "run").mkdir(parents=True, exist_ok=True)
    for name, content in (
        ("campaign.json", seeds("record")[0]),
        ("runs/cell/cell.json", seeds("cell")[0]),
        ("runs/cell/run/run.json", seeds("attempt")[0]),
        (place, file.read_bytes()),
    ):
        (root / name).write_bytes(content)
    assert load_campaign(root).cells


def cell(file: Path) -> None:
    campaign_with(file, "runs/cell/cell.json")


def attempt(file: Path) -> None:
    campaign_with(file, "runs/cell/run/run.json")


def results(file: Path) -> None:
    is_whole(file.parent)
    read_summary(file.parent)
    with suppress(TableMissing):
        read_table(file.parent, "aligned")


def served(file: Path) -> None:
    """The same file as all that the page of `ddu serve` reads."""
    for name in ("run/run.json", "run/summary.json", "a/campaign.json"):
        (file.parent / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(file, file.parent / name)
    index_page(file.parent)


def comparison(file: Path) -> None:
    folder = file.parent / "comparison"
    folder.mkdir(exist_ok=True)
    shutil.copyfile(file, folder / file.name)
    figure = folder / "a.svg"
    figure.touch()
    try:
        recipe_of(figure)
    except RefusedError as error:
        if "not a run directory" not in str(error):
            raise  # It names runs that are not there.


def policy(file: Path) -> None:

    program.knows_the_link(file)
    policies.check_syntax(file)


def experiment(file: Path) -> None:
    try:
        resolve_written(*collect({}, file, radios.read), lambda *_: {})
    except RefusedError as error:
        # What the file lacks is named by its flag.
        if any(one.where.file for one in error.problems):
            raise


def bpf(file: Path) -> None:
    with suppress(RefusedError):  # It is about the parameters that are given.
        parameters.check("mine", file, {"alpha": "3"})


READERS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "run": (lambda file: read_manifest(file.parent), "run.json"),
    "record": (lambda file: read_definition(file.parent), "campaign.json"),
    "campaign": (definition.read, "campaign.yaml"),
    "mapping": (read_mapping, "experiment.yaml"),
    "experiment": (experiment, "experiment.yaml"),
    "preset": (lambda file: radios.read(RADIO, str(file)), "radio.yaml"),
    "index": (lambda file: sets.index(file.parent), sets.INDEX),
    "claims": (lambda file: read_papers(file.parent), "paper.yaml"),
    "cell": (cell, "changed.json"),
    "attempt": (attempt, "changed.json"),
    "summary": (results, "summary.json"),
    "served": (served, "summary.json"),
    "comparison": (comparison, "comparison.json"),
    "published": (record_and_runs, "record.json"),
    "recipe": (unpacked_recipe, "figure.recipe"),
    "policy": (policy, "policy.py"),
    "bpf": (bpf, "mine.bpf.c"),
    "csv": (imported("csv"), "measured.csv"),
    "mahimahi": (imported("mahimahi"), "trace.down"),
    "seconds": (imported("seconds-mbps"), "rates.txt"),
    "lumos5g": (imported("lumos5g", "capacity", "radio"), "lumos5g.csv"),
    "ucc5g": (imported("ucc5g", "radio", "capacity"), "ucc5g.csv"),
    "drive": (imported("drive"), "drive.csv"),
    "taps": (imported("taps"), "taps.csv"),
    "sionna": (imported("sionna", period_s=1e-3), "cir.npz"),
    "quadriga": (quadriga, "cir.mat"),
    "oai": (imported("oai"), "gnb.log"),
    "simulated": (imported_run, "mac.csv"),
    "android": (imported("android"), "phone.txt"),
}


def seeds(name: str) -> list[bytes]:
    assert CHECKOUT is not None
    files = CHECKOUT.glob(_OURS[name]) if name in _OURS else SEEDS.glob(f"{name}-*")
    return [file.read_bytes() for file in sorted(files)[:12]]


@pytest.mark.parametrize("name", READERS)
def test_every_reader_has_seeds_that_it_reads(tmp_path: Path, name: str) -> None:
    read, called = READERS[name]
    assert seeds(name)
    for content in seeds(name)[:2]:
        result = result_of(read, tmp_path / called, content)
        assert not isinstance(result, RefusedError), result


@pytest.mark.parametrize("kept", sorted(CRASHED.iterdir()), ids=lambda file: file.name)
def test_what_once_crashed_a_reader_is_read_or_refused(tmp_path: Path, kept: Path) -> None:
    read, called = READERS[kept.name.partition("-")[0]]
    result_of(read, tmp_path / called, kept.read_bytes())


@pytest.mark.filterwarnings("ignore::DeprecationWarning:<unknown>", "ignore:invalid escape")
@pytest.mark.parametrize("name", READERS)
def test_a_changed_file_is_read_or_refused(tmp_path: Path, name: str) -> None:
    read, called = READERS[name]
    try_changes(seeds(name), lambda content: result_of(read, tmp_path / called, content))
