# SPDX-License-Identifier: Apache-2.0
"""All congestion controls of all providers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, cast

from ccu.congestion import files, references
from ccu.congestion.provider import Control, FileProvider, InVirtualTime, Provider, Setup
from ccu.spec.experiment import Experiment
from ddu.console.extensions import extensions
from ddu.console.problems import RefusedError, Where, refusal
from ddu.console.suggestions import unknown

_GROUP = "ccu.congestion"
_KERNEL = "kernel"


@cache
def _providers() -> tuple[Provider, ...]:
    """Return the kernel's own first: what others provide goes before it."""
    found = sorted(extensions(_GROUP).items(), key=lambda item: item[0] != _KERNEL)
    return tuple(provider for _, provider in found)


def _catalogue() -> dict[str, tuple[Control, Provider]]:
    return {
        name: (control, provider)
        for provider in _providers()
        for name, control in provider.controls().items()
    }


def available() -> dict[str, str]:
    """Return the source of every congestion control that can run here now."""
    found = _catalogue().items()
    return {name: control.source for name, (control, _) in found if control.obstacle is None}


def available_later() -> set[str]:
    """Return the names of those, and of what only another run keeps from running now."""
    found = _catalogue().items()
    return {name for name, (one, _) in found if one.obstacle is None or one.temporary}


def unavailable() -> dict[str, str]:
    """Return why each congestion control that cannot run now cannot."""
    found = _catalogue().items()
    return {name: one.obstacle for name, (one, _) in found if one.obstacle is not None}


def describe() -> dict[str, Control]:
    """Return every congestion control by name; files in the folders of `files` by theirs."""
    found = {name: control for name, (control, _) in _catalogue().items()}
    for provider in _file_providers():
        known = provider.sources()
        found |= {
            name: provider.of_file(file)
            for name, file in files.sources(provider.suffix).items()
            if name.removesuffix(provider.suffix) not in known
        }
    return {name: references.referenced(name, one) for name, one in found.items()}


def check(experiment: Experiment, *, now: bool = True) -> None:
    """Raise RefusedError if a congestion control cannot run here or does not take the parameters.

    Without `now`, what another run uses counts as available: that run will end.
    """
    there = _catalogue()
    by_file = {name: _file_of(experiment, name) for name in experiment.cc_files}
    for name in experiment.servers_ccs:
        if name in by_file:
            if now:
                _check_new_name(name, by_file[name].file)
            _check_control(name, by_file[name].control, now)
        else:
            _check_control(name, there[name][0] if name in there else None, now)
    providers = {
        name: by_file[name].provider if name in by_file else there[name][1]
        for name in experiment.servers_ccs
    }
    takers = {name: one.takes_parameters for name, one in providers.items()}
    check_parameters_are_taken(experiment, takers)
    for name, provider in providers.items():
        parameters = experiment.cc_params_of(name) if provider.takes_parameters else {}
        if name in by_file:
            by_file[name].check(parameters, virtual=False)
        else:
            provider.check(name, parameters)


def check_names(experiment: Experiment) -> None:
    """Raise RefusedError if nobody provides a congestion control, whether it can run now or not."""
    there = {*_catalogue(), *experiment.cc_files}
    for name in experiment.servers_ccs:
        if name not in there:
            raise not_there(name, there)


def check_parameters_are_taken(experiment: Experiment, takers: Mapping[str, bool]) -> None:
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


def _check_control(name: str, control: Control | None, now: bool) -> None:
    if control and (control.obstacle is None or (control.temporary and not now)):
        return
    ready = sorted(available() if now else available_later())
    if control:
        others = ", ".join(ready)
        rule = f"{name} cannot run here: {control.obstacle}"
        raise refusal(rule, f"choose one that can: {others}", key="cc")
    raise not_there(name, ready, "on this machine")


def not_there(name: str, there: Iterable[str], place: str = "") -> RefusedError:
    """Return the refusal of a name that nobody provides."""
    here = [f"./{name}{one.suffix}" for one in _file_providers()]
    if files_here := [file for file in here if Path(file).is_file()]:
        rule = f"no congestion control {name!r}"
        return refusal(rule, f"name the file: {' or '.join(files_here)}", key="cc")
    return RefusedError(unknown("congestion control", name, there, place, where=Where(key="cc")))


class OfFile:
    """A congestion control that a file of the user is."""

    def __init__(self, name: str, file: Path, provider: FileProvider) -> None:
        self.name, self.file, self.provider = name, file, provider

    @property
    def control(self) -> Control:
        return self.provider.of_file(self.file)

    def check(self, parameters: Mapping[str, str], *, virtual: bool) -> None:
        """Raise RefusedError if it cannot be used with the parameters."""
        self.provider.check_file(self.name, self.file, parameters, virtual=virtual)

    def in_virtual_time(self, setup: Setup) -> InVirtualTime:
        """Put what the kernel in virtual time needs into the run."""
        return self.provider.in_virtual_time(self.name, self.file, setup)

    def account(self, setup: Setup, counters: Mapping[str, int] | None) -> dict[str, Any]:
        """Return what run.json says of it after a run in virtual time."""
        return self.provider.account(self.name, self.file, setup, counters)


def of_files(experiment: Experiment, kernels: Iterable[str]) -> dict[str, OfFile]:
    """Return the experiment's congestion controls that are files, by name. Raises RefusedError.

    `kernels`: names that the kernel has by itself.
    """
    named = {name: _file_of(experiment, name) for name in experiment.cc_files}
    known = by_name().items()
    wanted = set(experiment.servers_ccs) - set(kernels)
    return {name: one for name, one in known if name in wanted} | named


def by_name() -> dict[str, OfFile]:
    """Return the congestion controls of files that have a name of their own."""
    return {
        name: OfFile(name, file, provider)
        for provider in _file_providers()
        for name, file in provider.sources().items()
    }


def _file_providers() -> list[FileProvider]:
    return [cast(FileProvider, one) for one in _providers() if one.suffix is not None]


def _file_of(experiment: Experiment, name: str) -> OfFile:
    written = experiment.cc_files[name]
    file = files.locate(written)
    for provider in _file_providers():
        if file.name.endswith(provider.suffix):
            return OfFile(name, file, provider)
    known = " or ".join(f"mine{one.suffix}" for one in _file_providers())
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
    there = _catalogue()
    by_file = {name: _file_of(setup.experiment, name) for name in setup.experiment.cc_files}
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(
                by_file[name].provider.loaded(name, setup)
                if name in by_file
                else there[name][1].loaded(name, setup)
            )
            for name in setup.experiment.servers_ccs
        }


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
    found = ((name, trace_file(setup.raw, name)) for name in setup.experiment.servers_ccs)
    return [{"cc": name, "file": f"raw/{file.name}"} for name, file in found if file.exists()]
