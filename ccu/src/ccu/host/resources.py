# SPDX-License-Identifier: Apache-2.0
"""The resources that a run makes on this machine outside its directory, registered beforehand.

Each run has a record, a file in /run/ccu that lists its resources; the record is deleted when they
are removed, and like them does not survive a reboot. If ccu is killed, the next one finds the
record and removes what remains. A kind of resource is defined beside the code that makes it, and
found through the entry points `ccu.resources`, so this module imports no driver.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from ccu.host import processes
from ccu.host.processes import Identity
from ddu.console.extensions import extension
from ddu.console.problems import refusal
from ddu.run import durable

if TYPE_CHECKING:
    from pydantic import TypeAdapter

FOLDER = Path("/run/ccu")
if os.geteuid() != 0:  # Without root only some testbeds run, and none makes what outlives a login.
    FOLDER = Path(os.environ.get("XDG_RUNTIME_DIR") or "/tmp", f"ccu-{os.geteuid()}")
ENTRY_POINTS = "ccu.resources"
_SCHEMA = "ccu-resources/1"
_WRITER = re.compile(r".+\.(\d+)-(\d+)\.part")


Kind = TypeVar("Kind")


class Resource(Protocol):
    """A frozen dataclass whose fields are JSON values and name one thing on this machine."""

    kind: ClassVar[str]
    """The name of the entry point."""
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def remove(self) -> list[str]:
        """Remove the thing if it exists, and return sentences that say so.

        Called any number of times, also where the thing was never made. Raises an exception if the
        thing stays.
        """
        ...


class Resources:
    """The record of one run, or of a testbed that stays up; its newest resource is the last."""

    def __init__(self, run_id: str, owner: Identity | None, items: list[Resource]) -> None:
        self.run_id = run_id
        self.owner = owner
        """The process that owns the resources; None means kept until `ccu testbed down`."""
        self._items = items
        self._not_removed: dict[str, str] = {}

    @property
    def not_removed(self) -> list[str]:
        """Return a sentence on each resource that could not be removed."""
        return list(self._not_removed.values())

    @property
    def file(self) -> Path:
        return record_file(self.run_id)

    @property
    def abandoned(self) -> bool:
        """Return whether the ccu that owned them has ended."""
        return self.owner is not None and not processes.alive(self.owner)

    def of(self, kind: type[Kind]) -> list[Kind]:
        """Return the resources of one kind, the oldest first."""
        return [one for one in self._items if isinstance(one, kind)]

    def register(self, *resources: Resource) -> None:
        """Record resources that are about to be made."""
        self._items += [one for one in resources if one not in self._items]
        self._save()

    def release(self, *resources: Resource) -> None:
        """Remove resources from the record that are gone, or were not made after all."""
        self._items = [one for one in self._items if one not in resources]
        self._save()

    def keep(self) -> None:
        """Let the resources outlive this process."""
        self.owner = None
        self._save()

    def remove(self, *wanted: Resource) -> list[str]:
        """Remove `wanted`, or everything, the newest first; return sentences that say what.

        What cannot be removed stays in the record, and does not keep the rest from being removed.
        """
        done = []
        for resource in reversed([one for one in self._items if not wanted or one in wanted]):
            try:
                done += resource.remove()
            except Exception as error:  # pyroute2's and subprocess' have no common base
                reason = (str(error).splitlines() or [type(error).__name__])[0]
                sentence = f"not removed: {_named(resource)}: {reason}"
                self._not_removed[_named(resource)] = sentence
                done.append(sentence)
            else:
                self._not_removed.pop(_named(resource), None)
                self._items.remove(resource)
        if self._items or wanted:
            self._save()
        else:
            self.file.unlink(missing_ok=True)
        return done

    def _save(self) -> None:
        make_own(FOLDER)
        content = {
            "schema": _SCHEMA,
            "run_id": self.run_id,
            "owner": self.owner,
            "resources": [{"kind": one.kind, **dataclasses.asdict(one)} for one in self._items],
        }
        # The writer's identity is in the name, to recognise the file of a killed writer.
        writer = _this_process()
        part = FOLDER / f"{self.run_id}.{writer.pid}-{writer.start_ticks}.part"
        part.write_text(json.dumps(content))
        part.replace(self.file)


class UnreadableRecord(ValueError):  # noqa: N818
    """The record is damaged, or of another version of ccu; the text says which."""


def make_own(folder: Path) -> None:
    """Make `folder` unless it exists. Raises RefusedError if another user could write in it.

    What a record lists is removed with the rights of this user, so nobody else may write one:
    /tmp, where the folder is without XDG_RUNTIME_DIR, belongs to every user.
    """
    with suppress(FileExistsError):
        folder.mkdir(mode=0o755 if os.geteuid() == 0 else 0o700, parents=True)
    _refuse_another_users(folder)


def _refuse_another_users(folder: Path) -> None:
    """Raise RefusedError if `folder` exists and another user could write in it."""
    try:
        status = folder.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(status.st_mode):
        rule = "is not a directory"
    elif status.st_uid != os.geteuid():
        rule = f"belongs to user {status.st_uid}, not to user {os.geteuid()}"
    elif status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        rule = f"can be written by other users (mode {stat.S_IMODE(status.st_mode):o})"
    else:
        return
    fix = "let its owner remove it, or set XDG_RUNTIME_DIR to a directory of your own"
    if os.geteuid() == 0:
        fix = "look at what it holds, then remove it"
    raise refusal(f"{rule}, so what its records name may not be removed", fix, file=folder)


def _records() -> list[Path]:
    """Return the files of all records. Raises RefusedError for another user's folder."""
    _refuse_another_users(FOLDER)
    return sorted(FOLDER.glob("*.json"))


def record_file(run_id: str) -> Path:
    return FOLDER / f"{run_id}.json"


def begin_record(run_id: str) -> Resources:
    """Begin the record of a run; it has no resources yet."""
    resources = Resources(run_id, _this_process(), [])
    resources.register()
    return resources


def read(file: Path) -> Resources:
    """Return a record as it is on disk. Raises UnreadableRecord or FileNotFoundError."""
    try:
        content = json.loads(file.read_text())
    except ValueError:
        raise UnreadableRecord("it is damaged: not JSON") from None
    if not isinstance(content, dict) or content.get("schema") != _SCHEMA:
        raise UnreadableRecord("it was written by another version of ccu")
    try:
        owner = Identity(*map(int, content["owner"])) if content["owner"] else None
        return Resources(content["run_id"], owner, [_parse(one) for one in content["resources"]])
    except (KeyError, TypeError, ValueError) as error:
        raise UnreadableRecord(f"it is damaged: {error}") from None


def readable_records() -> list[Resources]:
    """Return the records of all runs and testbeds of this machine that this ccu can read."""
    records = []
    for file in _records():
        # Another ccu may have finished in between.
        with suppress(FileNotFoundError, UnreadableRecord):
            records.append(read(file))
    return records


def kept() -> list[Resources]:
    """Return the records of testbeds that were started manually and stay up."""
    return [one for one in readable_records() if one.owner is None]


def clean() -> list[str]:
    """Remove the resources of runs whose ccu has ended; return sentences that say what.

    Wait for another ccu that cleans at the same time.
    """
    make_own(FOLDER)
    with locked(FOLDER):
        done = [
            sentence for one in readable_records() if one.abandoned for sentence in one.remove()
        ]
        _remove_parts()
        return done + unreadable()


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold `folder` for this process alone; waits for another ccu that holds it.

    The kernel gives it back if this process is killed (flock(2)).
    """
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    with durable.locked(folder):
        yield


def unreadable() -> list[str]:
    """Return a sentence for each record that needs manual cleanup."""
    sentences = []
    for file in _records():
        try:
            read(file)
        except FileNotFoundError:
            continue
        except UnreadableRecord as error:
            if not _has_living_owner(file):
                sentences.append(
                    f"{file}: {error}. Remove what it lists, with the ccu that wrote it or "
                    "manually, then delete the file."
                )
    return sentences


def _has_living_owner(file: Path) -> bool:
    """Return whether the record, of any version, belongs to a current run."""
    try:
        return processes.alive(Identity(*json.loads(file.read_text())["owner"]))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _remove_parts() -> None:
    """Remove half-written records of processes that are gone: nothing was made for them yet."""
    for part in FOLDER.glob("*.part"):
        writer = _WRITER.fullmatch(part.name)
        if not (writer and processes.alive(Identity(int(writer[1]), int(writer[2])))):
            part.unlink(missing_ok=True)


@cache
def _adapter(kind: type[Resource]) -> TypeAdapter[Resource]:
    """Return the check of a kind's fields, which takes longer to make than to use."""
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _parse(content: dict[str, Any]) -> Resource:
    """Return the resource, its fields checked. Raises ValueError."""
    from pydantic import ValidationError  # takes longer than reading a record

    fields = dict(content)
    kind = fields.pop("kind")
    if (known := extension(ENTRY_POINTS, kind)) is None:
        raise ValueError(f"{kind!r} is not a kind of resource; is its driver's package installed?")
    try:
        resource: Resource = _adapter(known).validate_python(fields)
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"{kind}: {first['loc'][-1]}: {first['msg']}") from None
    return resource


def _named(resource: Resource) -> str:
    values = " ".join(str(value) for value in dataclasses.asdict(resource).values())
    return f"{resource.kind} {values}"


def _this_process() -> Identity:
    identity = processes.identify(os.getpid())
    assert identity is not None
    return identity
