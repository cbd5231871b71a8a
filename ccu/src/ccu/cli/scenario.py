# SPDX-License-Identifier: Apache-2.0
"""The commands `ccu scenario …`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from rich.console import Console
from rich.markup import escape

from ccu.scenarios.library import locate, seed_of
from ccu.scenarios.settings import settings
from ccu.spec import units
from ddu.console.problems import Problem, RefusedError, Where, refusal
from ddu.console.suggestions import unknown

if TYPE_CHECKING:
    from ccu.scenarios.sources import Kind

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Show, check, import and export scenarios."
)
out = Console()

UNKNOWN = "LicenseRef-unknown"
_ABOUT_A_SET = {
    "--name": "give the set a name",
    "--license": f"name it by SPDX ({UNKNOWN} where nobody states one)",
    "--source": "write who measured the traces, where and when",
    "--get": "give the address where they can be had",
}
"""The fix for each flag that is missing."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
Scenario = Annotated[
    str, typer.Argument(help="Scenario: a name of `ccu list scenarios`, or a file.")
]
Seed = Annotated[int | None, typer.Option(help="Random seed. (default: 1)")]
Prb = Annotated[
    int | None, typer.Option(help="Carrier bandwidth, in PRBs. (default: the scenario's, else 106)")
]
Numerology = Annotated[
    int | None,
    typer.Option(
        help="Numerology µ: subcarrier spacing 15·2^µ kHz. (default: the scenario's, else 1)"
    ),
]
Seconds = Annotated[
    float | None,
    typer.Option(help="Duration to play, in s. (default: the scenario's, at most 100)"),
]


@app.command()
def show(
    scenario: Scenario,
    figure: Annotated[
        Path | None, typer.Option("--figure", "-o", help="Output file, .svg. (default: NAME.svg)")
    ] = None,
    seed: Seed = None,
    prb: Prb = None,
    numerology: Numerology = None,
    seconds: Seconds = None,
) -> None:
    """Draw RSRP, SINR, MCS and capacity over time, and print their statistics."""
    from ccu.scenarios.play import experiment, play
    from ccu.scenarios.show import draw, summary

    flags = {"seed": seed, "prb": prb, "numerology": numerology}
    planned = experiment(scenario, flags)
    target = figure or Path(f"{Path(scenario).stem if '/' in scenario else scenario}.svg")
    if target.suffix != ".svg":
        raise refusal(f"{target}: is not an .svg file", "end its name in .svg", key="--figure")
    with _named_by_flags(scenario, flags):
        seen = play(planned, seconds)
    drawn = seed_of(scenario)
    seed_shown = planned.seed if drawn is None else drawn
    title = (
        f"{scenario}, seed {seed_shown}, {planned.prb} PRB at "
        f"{15 * 2**planned.numerology} kHz, {planned.carrier_ghz:g} GHz"
    )
    if seen["rsrp_dbm"].isna().all():
        title = f"{scenario}, seed {seed_shown}: capacity as given"
    try:
        draw(seen, target, title)
    except OSError as error:
        raise refusal(f"{target}: {error.strerror}", key="--figure") from None
    out.print(summary(seen, escape(title)))
    print(f"figure: {target}")


@app.command()
def validate(
    scenarios: Annotated[list[str], typer.Argument(help="Scenarios: names or files.")],
) -> None:
    """Check scenarios, and report each error with file, line and fix."""
    from ccu.scenarios.validate import validate as check

    problems: list[Problem] = []
    for name in scenarios:
        try:
            check(name)
            print(f"{name}: valid")
        except RefusedError as error:
            problems += error.problems
    if problems:
        raise RefusedError(problems)


@app.command("import")
def import_command(
    form: Annotated[
        str, typer.Argument(metavar="FORMAT", help="Format, one of `ccu scenario formats`.")
    ],
    file: Annotated[Path, typer.Argument(help="Input file, or run directory.")],
    name: Annotated[
        str | None, typer.Option(help="Name of the scenario. (default: the file's)")
    ] = None,
    output: Annotated[
        Path,
        typer.Option(
            help="Output folder for NAME.yaml and its series. (default: the current one)",
            show_default=False,
        ),
    ] = Path(),
    kind: Annotated[
        str | None,
        typer.Option("--as", help="Content: radio or capacity. (default: the format's usual one)"),
    ] = None,
    run: Annotated[
        int | None, typer.Option(help="Number of the run, in a file of many. (default: the first)")
    ] = None,
    ul: Annotated[
        Path | None, typer.Option(help="Trace of the uplink, in the same format.")
    ] = None,
    period: Annotated[
        str | None, typer.Option(help="Sampling period of samples without timestamps, such as 1s.")
    ] = None,
    license_name: Annotated[
        str,
        typer.Option(
            "--license",
            help=f"Licence of the data, as its SPDX name. (default: {UNKNOWN})",
            show_default=False,
        ),
    ] = UNKNOWN,
) -> None:
    """Make a scenario from a measurement, a trace or a run."""
    from ccu.scenarios.sources import FORMATS, ImportOptions, check_options
    from ccu.scenarios.write import write

    if form not in FORMATS:
        raise RefusedError(unknown("format", form, FORMATS))
    options = ImportOptions(
        kind=_kind(kind), name=_name_of(file, name), period_s=_period_s(period), run=run, ul=ul
    )
    check_options(form, options)
    imported = FORMATS[form].read(file, options)
    inputs = [file, *([ul] if ul else [])]
    made = write(imported, options.name, license_name, output, inputs=inputs)
    for path in made:
        print(path)
    print(f"  {imported.kind} of {imported.duration_s:g} s: {imported.summary}")
    for sentence in imported.origins:
        print(f"  {sentence}")
    if license_name == UNKNOWN:
        print("  Licence: unknown (name it with --license)")
    print(f"next: ccu run --cc cubic --scenario {shlex.quote(_as_path(made[0]))}")


def _kind(given: str | None) -> Kind | None:
    if given in (None, "radio", "capacity"):
        return cast("Kind | None", given)
    raise refusal(f"{given!r} is not a kind of scenario", "choose radio or capacity", key="--as")


def _name_of(file: Path, given: str | None) -> str:
    """Return the name that is given to a scenario, else that of the file it is made from."""
    name = given or re.sub(r"[^A-Za-z0-9._-]+", "-", file.resolve().name.removesuffix(file.suffix))
    if not _NAME.fullmatch(name):
        raise refusal(
            f"{name!r} is not a name", "use letters, digits, dots and hyphens", key="--name"
        )
    return name


def _period_s(given: str | None) -> float | None:
    try:
        return units.seconds(given) if given else None
    except ValueError as error:
        raise refusal(str(error), key="--period") from None


@app.command()
def dataset(
    form: Annotated[
        str,
        typer.Argument(
            metavar="SET|FORMAT", help="A set of `ccu scenario formats`, or an import's format."
        ),
    ],
    folder: Annotated[Path, typer.Argument(help="Folder of the traces.")],
    name: Annotated[str | None, typer.Option(help="Name of a set of your own.")] = None,
    output: Annotated[Path | None, typer.Option(help="Folder for it. (default: .)")] = None,
    match: Annotated[str | None, typer.Option(help="Pattern of its files. (default: *)")] = None,
    source: Annotated[
        list[str] | None, typer.Option(help="Who measured it, how; may be repeated.")
    ] = None,
    get: Annotated[str | None, typer.Option(help="Where its traces can be had.")] = None,
    license_name: Annotated[
        str | None, typer.Option("--license", help="Licence of the data, as its SPDX name.")
    ] = None,
) -> None:
    """Make a set of scenarios from a folder of measured traces."""
    from ccu.scenarios import dataset, sets
    from ccu.scenarios.sources import FORMATS

    given = {
        "--name": name, "--license": license_name, "--source": source, "--get": get
    }  # fmt: skip
    if form in sets.known():
        others = {"--output": output, "--match": match}
        if used := [flag for flag, value in (given | others).items() if value]:
            raise refusal(f"the index of {form} has it", "leave it out", key=used[0])
        made, where = dataset.fill(form, folder), form
    elif form not in FORMATS:
        raise RefusedError(unknown("set or format", form, [*sets.known(), *FORMATS]))
    else:
        if missing := [flag for flag, value in given.items() if not value]:
            rule = "is missing: a set says whose its traces are"
            fixes = ((flag, _ABOUT_A_SET[flag]) for flag in missing)
            raise RefusedError(Problem(rule, fix, Where(key=flag)) for flag, fix in fixes)
        if not _NAME.fullmatch(name or ""):
            raise refusal(f"{name!r} is not a name", "use letters, digits, hyphens", key="--name")
        target = (output or Path()) / str(name)
        about = dataset.About(tuple(source or ()), str(license_name), str(get))
        made = dataset.make(form, folder, match or "*", about, target)
        where = _as_path(target)
    print(f"{where}: {len(made)} traces; seed 1 draws {made[0]}")
    print(f"next: ccu run --cc cubic --scenario {shlex.quote(where)} --seed 1")


@app.command()
def export(
    form: Annotated[
        str, typer.Argument(metavar="FORMAT", help="Format, one of `ccu scenario formats`.")
    ],
    scenario: Scenario,
    output: Annotated[
        Path, typer.Option(help="Output folder. (default: the current one)", show_default=False)
    ] = Path(),
    seed: Seed = None,
    prb: Prb = None,
    numerology: Numerology = None,
    seconds: Seconds = None,
) -> None:
    """Write a scenario in the format of another tool."""
    from ccu.scenarios.exports import FORMATS
    from ccu.scenarios.play import DEFAULT_S, duration_s, experiment

    if form not in FORMATS:
        raise RefusedError(unknown("format", form, FORMATS))
    flags = {"seed": seed, "prb": prb, "numerology": numerology}
    planned = experiment(scenario, flags)
    if seconds is None:
        seconds = min(duration_s(locate(scenario, planned.seed)), DEFAULT_S)
    try:
        output.mkdir(parents=True, exist_ok=True)
        name = Path(scenario).stem if "/" in scenario else scenario
        with _named_by_flags(scenario, flags):
            written = FORMATS[form].write(planned, seconds, output / name)
    except OSError as error:
        raise refusal(f"{output}: {error.strerror}", key="--output") from None
    for path in written:
        print(path)


@app.command()
def formats() -> None:
    """List the formats of import and export."""
    from ccu.scenarios import exports, sets, sources

    for heading, known in (("import", sources.FORMATS), ("export", exports.FORMATS)):
        for name, one in known.items():
            print(f"{heading} {name:13} {one.summary}")
    for name, summary in sets.known().items():
        print(f"set    {name:13} {summary}")


@contextmanager
def _named_by_flags(scenario: str, flags: dict[str, Any]) -> Iterator[None]:
    """Name in refusals the flag of a value, or the scenario if it fixes the value."""
    try:
        yield
    except RefusedError as error:
        file = locate(scenario)
        fixed = settings(file, {key for key, value in flags.items() if value is not None})
        places = {key: Where(key=f"--{key}") for key in flags}
        places |= {key: Where(str(file), key=part) for key, (_, part) in fixed.items()}
        raise RefusedError(
            one if one.where.file else one.at(places.get(one.where.key or "", one.where))
            for one in error.problems
        ) from None


def _as_path(file: Path) -> str:
    """Return the path in a form that is not mistaken for a library name."""
    return str(file) if "/" in str(file) else f"./{file}"
