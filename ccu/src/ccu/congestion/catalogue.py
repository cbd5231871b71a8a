# SPDX-License-Identifier: Apache-2.0
"""All congestion controls of all providers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import ExitStack, contextmanager
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from ccu.congestion import descriptions
from ccu.congestion.provider import Control, Provided, Provider, changed_values
from ccu.host import cc_files
from ccu.host.setup import Setup
from ccu.spec.experiment import Experiment
from ddu.console.extensions import extensions, incomplete
from ddu.console.problems import Problem, RefusedError, Where, refusal
from ddu.console.suggestions import unknown

_GROUP = "ccu.congestion"
_KERNEL = "kernel"


@cache
def _providers() -> tuple[Provider, ...]:
    """Return the kernel's own first: what others provide goes before it. Raises RefusedError."""
    by_name = dict(extensions(_GROUP))
    if _KERNEL not in by_name:
        raise incomplete(_GROUP)
    return (by_name.pop(_KERNEL), *by_name.values())


def _here() -> dict[str, tuple[Control, Provided]]:
    """Return the congestion controls for this machine's kernel."""
    return {
        one.name: (controls[one.name], one)
        for provider in _providers()
        for controls in [provider.controls()]
        for one in _provided(provider, controls)
    }


def _provided(provider: Provider, names: Iterable[str]) -> list[Provided]:
    """Return the named congestion controls of one provider, whose folders are read once."""
    known = provider.sources()
    return [Provided(name, provider, known.get(name)) for name in names]


def available() -> dict[str, str]:
    """Return the source of every congestion control that can run here now."""
    here = _here().items()
    return {name: control.source for name, (control, _) in here if control.obstacle is None}


def available_later() -> set[str]:
    """Return the names of those, and of what only another run keeps from running now."""
    here = _here().items()
    return {name for name, (one, _) in here if one.obstacle is None or one.temporary}


def unavailable() -> dict[str, str]:
    """Return why each congestion control that cannot run now cannot."""
    here = _here().items()
    return {name: one.obstacle for name, (one, _) in here if one.obstacle is not None}


def describe() -> dict[str, Control]:
    """Return every congestion control by name; files in the folders of `cc_files` by theirs."""
    controls = {name: control for name, (control, _) in _here().items()}
    for provider in _providers():
        known = provider.sources()
        if suffix := provider.suffix:
            controls |= {
                name: provider.of_file(file)
                for name, file in cc_files.sources(suffix).items()
                if name.removesuffix(suffix) not in known
            }
    return {name: descriptions.described(name, one) for name, one in controls.items()}


def check(experiment: Experiment, *, now: bool = True) -> None:
    """Raise RefusedError if a congestion control cannot run here or does not take the parameters.

    Without `now`, what another run uses counts as available: that run will end.
    """
    there = _here()
    of_files = _of_files(experiment)
    for name in experiment.servers_ccs:
        if one := of_files.get(name):
            assert one.file
            if now:
                _check_new_name(name, one.file)
            control: Control | None = one.provider.of_file(one.file)
        else:
            control = there[name][0] if name in there else None
        _check_control(name, control, now, experiment.key_of_cc(name))
    check_provided(experiment, {name: one for name, (_, one) in there.items()} | of_files)


def check_provided(
    experiment: Experiment, there: Mapping[str, Provided], *, virtual: bool = False
) -> None:
    """Raise RefusedError if a congestion control of the experiment cannot be loaded, or does not
    take the parameters; `there` has all of them."""
    chosen = {name: there[name] for name in experiment.servers_ccs}
    takers = {name: one.provider.takes_parameters for name, one in chosen.items()}
    for stage in experiment.stages:
        try:
            _check_parameters_are_taken(stage.experiment, takers)
            for name, one in chosen.items():
                parameters = stage.experiment.cc_params_of(name) if takers[name] else {}
                one.provider.check(name, one.file, parameters, virtual=virtual)
        except RefusedError as error:
            if not stage.at_s:
                raise
            # The experiment as it begins was taken, so that it is what changes.
            at = Where(key="changes")
            raise RefusedError(
                Problem(f"{stage.at_s:g}s: {one.rule}", one.fix, at) for one in error.problems
            ) from None
    for name, changed in changed_parameters(experiment):
        if takers[name] and not chosen[name].provider.changes_parameters:
            rule = f"{changed.at_s:g}s: the parameters of {name} are fixed when it is loaded"
            raise refusal(rule, "leave the change out", key="changes")


def changed_parameters(experiment: Experiment) -> Iterator[tuple[str, Changed]]:
    """Yield each change of parameters that a congestion control sees, after it is loaded."""
    for name in experiment.servers_ccs:
        for before, after in pairwise(experiment.stages_with(name)):
            if before.experiment.cc_params_of(name) != after.experiment.cc_params_of(name):
                yield name, Changed(after.at_s, before.experiment, after.experiment)


class Changed(NamedTuple):
    """Parameters of a congestion control before and after an instant of the traffic."""

    at_s: float
    before: Experiment
    after: Experiment


def try_out(experiment: Experiment, kernel: Set[str] | None) -> None:
    """Execute what the experiment's users wrote, as far as it shows whether it can run. Raises
    RefusedError.

    `kernel`: the names that the kernel in virtual time has; None: it is this machine's.
    """
    there = _loadable(experiment) if kernel is None else in_virtual_time(experiment, kernel)
    for name in experiment.servers_ccs:
        if (one := there.get(name)) and one.provider.takes_parameters:
            of = [each for other, each in changed_parameters(experiment) if other == name]
            changes: dict[str, str] = {}
            for each in of:
                changes |= changed_values(name, each.before, each.after)
            parameters = experiment.first_with(name).cc_params_of(name)
            one.provider.try_out(name, one.file, parameters, changes)


def check_names(experiment: Experiment) -> None:
    """Raise RefusedError if nobody provides a congestion control, whether it can run now or not, or
    if its file is not there."""
    there = {*_here(), *_of_files(experiment)}
    for name in experiment.servers_ccs:
        if name not in there:
            raise not_there(name, there, key=experiment.key_of_cc(name))


def _check_parameters_are_taken(experiment: Experiment, takers: Mapping[str, bool]) -> None:
    """Raise RefusedError if a parameter is for a congestion control that takes none, or is not
    there.

    `takers`: whether each congestion control of the experiment takes parameters.
    """
    taking = [name for name, takes in takers.items() if takes]
    for key in experiment.cc_params:
        name, dot, _ = key.partition(".")
        if dot and name not in takers:
            known = ", ".join(takers)
            fix = f"name one of this run: {known}"
            raise refusal(f"{key}: no flow has {name}", fix, key="cc_params")
        if (dot and name not in taking) or not taking:
            whose = name if dot else experiment.cc
            raise refusal(f"{whose} takes no parameters", "leave it out", key="cc_params")


def _check_control(name: str, control: Control | None, now: bool, key: str) -> None:
    if control and (control.obstacle is None or (control.temporary and not now)):
        return
    ready = sorted(available() if now else available_later())
    if control:
        others = ", ".join(ready)
        rule = f"{name} cannot run here: {control.obstacle}"
        raise refusal(rule, f"choose one that can: {others}", key=key)
    raise not_there(name, ready, "on this machine", key)


def not_there(name: str, there: Iterable[str], place: str = "", key: str = "cc") -> RefusedError:
    """Return the refusal of a name that nobody provides; `key`: the one that has it."""
    here = [f"./{name}{one.suffix}" for one in _providers() if one.suffix]
    if files_here := [file for file in here if Path(file).is_file()]:
        rule = f"no congestion control {name!r}"
        return refusal(rule, f"name the file: {' or '.join(files_here)}", key=key)
    return RefusedError(unknown("congestion control", name, there, place, where=Where(key=key)))


def in_virtual_time(experiment: Experiment, kernel: Set[str]) -> dict[str, Provided]:
    """Return every congestion control in virtual time, with the experiment's files. Raises
    RefusedError.

    `kernel`: the names that the kernel there has.
    """
    named = {
        one.name: one
        for provider in _providers()
        for one in _provided(provider, sorted(provider.virtual_controls(kernel)))
    }
    return named | _of_files(experiment)


def sources() -> dict[str, Path]:
    """Return the files of congestion controls that have a name of their own."""
    return {name: file for one in _providers() for name, file in one.sources().items()}


def _of_files(experiment: Experiment) -> dict[str, Provided]:
    """Return those of the experiment that are files of the user. Raises RefusedError."""
    return {
        name: _of_file(name, written, experiment.key_of_cc(name))
        for name, written in experiment.cc_files.items()
    }


def _of_file(name: str, written: str, key: str) -> Provided:
    try:
        file = cc_files.locate(written)
    except RefusedError as error:
        raise RefusedError(one.at(Where(key=key)) for one in error.problems) from None
    takers = [one for one in _providers() if one.suffix]
    for provider in takers:
        if provider.suffix and file.name.endswith(provider.suffix):
            return Provided(name, provider, file)
    known = " or ".join(f"mine{one.suffix}" for one in takers)
    rule = "is not a source file of a congestion control"
    raise refusal(rule, f"its name has to end as {known}", file=written)


def _check_new_name(name: str, file: Path) -> None:
    """Raise RefusedError if the kernel has the name: a socket could not ask for the file's."""
    if name in _providers()[0].controls():
        rule = f"the kernel has a congestion control {name} already"
        fix = "give the file another name, or wait for the run that uses it"
        raise refusal(rule, fix, file=file)


@contextmanager
def loaded(setup: Setup) -> Iterator[dict[str, Any]]:
    """Have the kernel offer every congestion control of the experiment while the context lasts.

    Returns what run.json says of each implementation, by name, complete once the context has ended.
    """
    there = _loadable(setup.experiment)
    chosen = {name: there[name] for name in setup.experiment.servers_ccs}
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(one.provider.loaded(name, one.file, setup.as_of(name)))
            for name, one in chosen.items()
        }


def changed(setup: Setup, name: str, of: Changed) -> None:
    """Give the parameters of a loaded congestion control other values while flows run.

    Raises RunFailed.
    """
    provider = _loadable(setup.experiment)[name].provider
    provider.change(name, of.before, of.after, setup)


def _loadable(experiment: Experiment) -> dict[str, Provided]:
    """Return this machine's congestion controls, and those of the experiment's files."""
    return {name: one for name, (_, one) in _here().items()} | _of_files(experiment)


def problems(implementations: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return what is wrong with the run by what `loaded` returned, as sentences."""
    return [
        f"{name}: {one}" for name, of in implementations.items() for one in of.get("problems", [])
    ]


def trace_file(raw: Path, name: str) -> Path:
    """Return where the trace of a congestion control goes (docs/run-directory.md)."""
    return raw / f"cc-{name}.csv"


def traces(setup: Setup) -> list[dict[str, str]]:
    """Return run.json's `cc_traces`: the traces that congestion controls left."""
    files_of = ((name, trace_file(setup.raw, name)) for name in setup.experiment.servers_ccs)
    return [{"cc": name, "file": f"raw/{file.name}"} for name, file in files_of if file.exists()]
