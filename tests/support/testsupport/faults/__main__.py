# SPDX-License-Identifier: Apache-2.0
"""Injects faults into the commands, and exits with 1 if one of them had a wrong outcome.

python -m testsupport.faults                         every fault; continues where it was ended
python -m testsupport.faults --sample 20 --seed 3     20 faults of each command, drawn at random
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import importlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import chain, cycle, groupby, islice
from operator import attrgetter
from pathlib import Path
from typing import NoReturn, TypeVar

import ccu
import ddu
from testsupport.example_package import installed
from testsupport.faults import replayed_testbed
from testsupport.faults.calls import KILL, POWER, Fault, Kind, Shared
from testsupport.faults.inject import Injected, Injector
from testsupport.faults.processes import adopt_orphans
from testsupport.faults.subjects import Analyze, Campaign, Import, Publish, Run, Subject

_T = TypeVar("_T")

_SHIM = Path(__file__).with_name("shim.c")
_MOST_OF_MEMORY = 200
"""Calls for memory are many; of a command's, so many are chosen, evenly."""
_IMPORTED = (
    "ccu.cli.main",
    "ccu.cli.campaign",
    "ccu.cli.cluster_options",
    "ccu.cli.progress",
    "ccu.cli.run",
    "ccu.campaigns.engines.parallel",
    "ccu.congestion.reminis",
    "ccu.testbeds.emulated.driver",
    "ccu.testbeds.oai.driver",
    "ccu.testbeds.phone.traffic_driver",
    "ccu.testbeds.virtual.driver",
    "ccu.testbeds.virtual_time.run",
    "ccu.traffic.bulk.driver",
    "ccu.traffic.program.driver",
    "ccu.traffic.quic.driver",
    "ddu.cli.main",
    "ddu.api",
    "ddu.campaign.analysis",
    "ddu.importing.run",
    "ddu.store.campaigns",
    "ddu.verify",
    "psycopg",
    "pyarrow.pandas_compat",
    "rich.progress",
    "typer._adapters",
)
_PASSES = (0, 4, 2, 6, 1, 5, 3, 7)
"""Every eighth fault, from each of these on: what is ended early has injected an even sample."""


def main() -> int:
    """Inject as the command line says; return the exit code."""
    options = _options()
    if "FAULTS_STATE" not in os.environ:
        memory = Path("/dev/shm")  # Every injection waits for the disk (fsync) some forty times.
        where = memory if os.access(memory, os.W_OK) else None
        _start_with_shim(Path(tempfile.mkdtemp(prefix="faults-", dir=where)))
    folder = Path(os.environ["FAULTS_STATE"]).parent
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder)
        shared = Shared(Path(os.environ["FAULTS_STATE"]))
        for module in _IMPORTED:
            importlib.import_module(module)
        subjects = [one for name in options.subjects if (one := _subject(name, stack))]
        gc.freeze()
        adopt_orphans()
        injectors = [Injector(one, shared, folder / one.name) for one in subjects]
        if options.sample:
            return _sample(injectors, options.sample, options.seed)
        return _everything(injectors, Path(options.journal), options.kind)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m testsupport.faults", description=__doc__)
    parser.add_argument("--sample", type=int, help="faults of each command, drawn at random")
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample")
    parser.add_argument("--kind", help="faults of this kind only, such as power or RENAME")
    parser.add_argument("--journal", default=".tools/faults.jsonl", help="outcomes so far")
    parser.add_argument("subjects", nargs="*", default=list(_SUBJECTS), metavar="COMMAND",
                        help=f"of {', '.join(_SUBJECTS)} (default: all)")  # fmt: skip
    return parser.parse_args()


def _start_with_shim(folder: Path) -> NoReturn:
    """Become this again with the shim in every process, and the testbed of its campaigns."""
    shim, state = folder / "shim.so", folder / "state"
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", shim, _SHIM, "-ldl"], check=True)
    Shared.make(state)
    installed(folder, "replayed", "ccu.testbeds", replayed_testbed.ENTRY_POINT)
    environment = {
        "FAULTS_STATE": str(state),
        "LD_PRELOAD": str(shim),
        "PYTHONPATH": str(folder),
        "OPENBLAS_NUM_THREADS": "1",
        "COLUMNS": "1000",
        "RUST_BACKTRACE": "0",
    }
    words = [sys.executable, "-m", "testsupport.faults", *sys.argv[1:]]
    os.execve(sys.executable, words, os.environ | environment)


def _subject(name: str, stack: ExitStack) -> Subject | None:
    """Return a subject, or print why it is left out."""
    import pytest

    try:
        return _SUBJECTS[name](stack)
    except pytest.skip.Exception as skipped:
        print(f"left out: {name}: {skipped}", flush=True)
        return None


def _publish(stack: ExitStack) -> Subject:
    from testsupport.store_server import fresh_store

    subject = Publish(fresh_store)
    stack.callback(subject.close)
    return subject


def _run(_stack: ExitStack) -> Subject:
    import pytest

    from testsupport.virtual_time import PROGRAM

    doctor = subprocess.run([PROGRAM, "virtual", "doctor"], capture_output=True, text=True)
    if doctor.returncode != 0:
        pytest.skip(doctor.stderr.strip())
    return Run()


_SUBJECTS: dict[str, Callable[[ExitStack], Subject]] = {
    "import": lambda _: Import(),
    "publish": _publish,
    "analyze": lambda _: Analyze(),
    "run": _run,
    "campaign": lambda _: Campaign(),
}
"""Those that cost least come first."""


def _faults(injector: Injector) -> Iterator[Fault]:
    """Yield every fault of a command, those that end it first."""
    counts = injector.count()
    for kind in (KILL, POWER, *(one.name for one in Kind)):
        assert kind is not None
        calls = sum(counts[one] for one in Kind if one in Fault(kind, 1).kinds)
        step = max(1, calls // _MOST_OF_MEMORY) if kind == Kind.MEMORY.name else 1
        yield from (Fault(kind, number) for number in range(1, calls + 1, step))


def _sample(injectors: list[Injector], number: int, seed: int) -> int:
    """Inject so many random faults into each command."""
    draw = random.Random(seed)
    return _report([one.inject(each) for one in injectors for each in _drawn(one, number, draw)])


def _drawn(injector: Injector, number: int, draw: random.Random) -> list[Fault]:
    """Return random faults: every second an end (killed, and without power where the command
    renames, in turn), and of the other kinds, in random order, each as often."""
    known = {kind: list(one) for kind, one in groupby(_faults(injector), key=attrgetter("kind"))}
    errors = sorted(known.keys() - {KILL, POWER})
    ends = sorted(known.keys() & {KILL, POWER})
    in_turn = (cycle(draw.sample(one, len(one))) for one in (ends, errors))
    kinds = chain.from_iterable(zip(*in_turn))  # noqa: B905 - both are endless
    return [draw.choice(known[kind]) for kind in islice(kinds, number)]


def _everything(injectors: list[Injector], journal: Path, kind: str | None) -> int:
    """Inject every fault, or of one kind, that the journal does not have yet."""
    journal.parent.mkdir(parents=True, exist_ok=True)
    done = {(one.subject, one.kind, one.number): one for one in _read(journal)}
    with journal.open("a") as file:
        if not done:
            file.truncate(0)
            file.write(json.dumps({"source": _source()}) + "\n")
        every = [
            (injector, fault)
            for injector in injectors
            for fault in _faults(injector)
            if kind in (None, fault.kind)
        ]
        shown_s = time.monotonic()
        for index, (injector, fault) in enumerate(_even(every), 1):
            key = (injector.subject.name, fault.kind, fault.number)
            if key not in done:
                done[key] = injector.inject(fault)
                file.write(json.dumps(done[key].to_json()) + "\n")
                file.flush()
            if time.monotonic() - shown_s > 10 or index == len(every):
                shown_s = time.monotonic()
                print(f"{index} of {len(every)}: {injector.subject.name}, {fault}", flush=True)
    return _report(list(done.values()))


def _even(faults: list[_T]) -> Iterator[_T]:
    """Yield all in an order of which each beginning is spread evenly over them."""
    return chain.from_iterable(faults[first :: len(_PASSES)] for first in _PASSES)


def _read(journal: Path) -> Iterator[Injected]:
    """Yield what an earlier call has found of the same source."""
    try:
        first, *lines = journal.read_text().splitlines()
    except (OSError, ValueError):
        return
    if json.loads(first) == {"source": _source()}:
        yield from (Injected(**json.loads(line)) for line in lines)


def _source() -> str:
    """Return a digest of the code under test: outcomes of other code do not count."""
    digest = hashlib.sha256(_SHIM.read_bytes())
    for package in (ccu, ddu):
        for file in sorted(Path(package.__path__[0]).rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _report(outcomes: list[Injected]) -> int:
    """Print how many faults had which outcome, and what is wrong; return the exit code."""
    counts = Counter((one.subject, one.kind.lower(), one.outcome) for one in outcomes)
    for (subject, kind, outcome), count in sorted(counts.items()):
        print(f"{subject:9} {kind:7} {outcome:12} {count}")
    wrong = [one for one in outcomes if one.complaint]
    for one in wrong:
        print(f"wrong: {one.subject}, {Fault(one.kind, one.number)}: {one.complaint}")
    print(f"faults injected: {len(outcomes)}, wrong outcomes: {len(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
