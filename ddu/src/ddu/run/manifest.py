# SPDX-License-Identifier: Apache-2.0
"""The manifest of a run, run.json (docs/run-directory.md): ccu writes what this module reads.

What no analysis needs is kept as it is, without a declaration.
"""

from __future__ import annotations

import json
from collections import Counter
from ipaddress import ip_address
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from ddu.console.input_file import read_json
from ddu.errors import NotARun, UnreadableInput, malformed
from ddu.run import durable
from ddu.run.integrity import need_intact, sealed
from ddu.run.version import need_known

SCHEMA_VERSION = 1
"""The newest run.json that this version understands."""

_FORM = "restore it (its form is in docs/run-directory.md)"

Direction = Literal["dl", "ul"]
Verdict = Literal["valid", "degraded", "invalid"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True, allow_inf_nan=False, defer_build=True)


Address = Annotated[str, AfterValidator(lambda text: str(ip_address(text)))]


def _file_of_run(name: str) -> str:
    """Return the name of a file inside of the run's directory, whoever wrote run.json."""
    parts = PurePosixPath(name).parts
    if not parts or parts[0] == "/" or ".." in parts or not name.isprintable():
        raise ValueError(f"{name!r} is not a file in the run's directory")
    return name


def _part_of_a_name(written: str) -> str:
    """Return what files are named by."""
    if "/" in written or not written.isprintable():
        raise ValueError(f"{written!r} has a slash or a control character")
    return written


FileOfRun = Annotated[str, AfterValidator(_file_of_run)]
"""The name of a file, relative to the run's directory."""


class Endpoint(_Part):
    """One end of a flow; `port` is null when the operating system chose it and nobody looked."""

    host: str
    address: Address
    port: Annotated[int, Field(ge=0, le=65_535)] | None = None


class Flow(_Part):
    """A data flow that the experiment asked for."""

    id: Annotated[str, AfterValidator(_part_of_a_name)]
    cc: str
    cc_read_back: str | None = None
    direction: Direction
    start_s: float = 0.0
    ue: Annotated[int, Field(ge=0)] = 0
    """The number of its rows in the MAC samples."""
    sender: Endpoint
    receiver: Endpoint
    control_port: Annotated[int, Field(ge=0, le=65_535)] | None = None
    received_until_utc_ns: int | None = None
    """When the receiver stopped counting, if no control connection shows it."""
    received_bytes: Annotated[int, Field(ge=0)] | None = None
    """The payload that the receiver counted, …"""
    with_drain_s: float | None = None
    """… from the first of it to the last."""

    @property
    def endpoints(self) -> tuple[str, int, str, int] | None:
        """The 5-tuple of the data without the protocol; None if a port is not known."""
        if self.sender.port is None or self.receiver.port is None:
            return None
        return self.sender.address, self.sender.port, self.receiver.address, self.receiver.port


class Capture(_Part):
    host: str
    role: Literal["sender", "receiver"]
    file: FileOfRun
    snaplen_bytes: int | None = None
    packets_dropped_count: int | None = None


class SocketSamples(_Part):
    host: str
    file: FileOfRun
    interval_ms: float = 20.0
    source: str = "netlink"
    """`netlink`, the capture of the socket sampler, or the source of a log format, as `ss`."""


class Source(_Part):
    """A file of samples; `source` is `nr-link`, or that of a log format: `oai`, `xapp`,
    `hercules`, `phone`, `drive-test` …"""

    file: FileOfRun
    source: str = "nr-link"


class CcTrace(_Part):
    cc: str
    file: FileOfRun


class Time(_Part):
    """Instants are UTC nanoseconds; `offset_ns` is the clock of `ue` minus that of `server`.

    None: the hosts have a clock each, and the offset between them is estimated from the packets.
    """

    start_utc_ns: int | None = None
    traffic_start_utc_ns: int | None = None
    traffic_stop_utc_ns: int | None = None
    stop_utc_ns: int | None = None
    clock: str = "CLOCK_REALTIME"
    offset_ns: int | None = 0
    offset_uncertainty_ns: int | None = 0
    offset_after_ns: int | None = None
    """The offset of a phone's clock from the instant at which it was set during the run."""


class Phone(_Part):
    place: str = ""


class Experiment(_Part):
    cc: str | None = None
    direction: Literal["dl", "ul", "bidir"]
    prb: Annotated[int, Field(ge=1)] | None = None
    scenario: str | None = None
    duration_s: Annotated[float, Field(gt=0)] | None = None
    rtt_ms: Annotated[float, Field(ge=0)] | None = None
    mss_bytes: Annotated[int, Field(ge=1)] | None = None
    phone: Phone | None = None


class Change(_Part):
    """A change during the run: from `utc_ns` on, `key` of the experiment had another value."""

    at_s: float
    key: str
    value: Any
    utc_ns: int

    def __str__(self) -> str:
        return f"{self.key}={self.value}"


class Failure(_Part):
    stage: str = ""
    reason: str


class FileDigest(_Part):
    """A file of the run as it was written."""

    file: FileOfRun
    bytes: int
    sha256: str


class Integrity(_Part):
    """The digest of run.json itself, and those of the raw data of a run that has finished."""

    sha256: str
    files: list[FileDigest] | None = None


class Kept(_Part):
    """The part of the run that a campaign has kept, if not all of it."""

    level: Literal["tables", "summary"]
    dropped: list[FileDigest] = []


class Cost(_Part):
    """The machine's time for a run, and for its analysis if a campaign did it at once."""

    wall_s: float
    cpu_s: float
    analysis_s: float = 0.0
    analysis_cpu_s: float = 0.0


class Manifest(_Part):
    schema_version: Annotated[int, Field(ge=1, strict=True)]
    run: str
    status: Literal["running", "finished", "failed", "interrupted"]
    failure: Failure | None = None
    experiment: Experiment
    hosts: dict[str, Any] = {}
    flows: list[Flow] = []
    captures: list[Capture] = []
    sockets: list[SocketSamples] = []
    mac: Source | None = None
    link: Source | None = None
    link_summary: FileOfRun | None = None
    cc_traces: list[CcTrace] = []
    changes: list[Change] = []
    cc_implementation: dict[str, Any] = {}
    time: Time = Time()
    software: dict[str, Any] = {}
    machine: dict[str, Any] = {}
    seeds: dict[str, Any] = {}
    cost: Cost | None = None
    verdict: Verdict | None = None
    verdict_reasons: list[str] = []
    kept: Kept | None = None
    shared_from: str | None = None
    integrity: Integrity | None = None
    """None: the run is older than its digests."""

    @property
    def dropped(self) -> set[str]:
        """The files that a campaign has not kept."""
        return set() if self.kept is None else {one.file for one in self.kept.dropped}

    @model_validator(mode="before")
    @classmethod
    def _one_trace_of_older_runs(cls, content: Any) -> Any:
        """Runs had one trace at most, under `cc_trace`, until several could be had."""
        if isinstance(content, dict) and (one := content.get("cc_trace")):
            return {"cc_traces": [one], **content}
        return content

    @field_validator("flows")
    @classmethod
    def _each_once(cls, flows: list[Flow]) -> list[Flow]:
        twice = sorted(
            name for name, count in Counter(flow.id for flow in flows).items() if count > 1
        )
        if twice:
            raise ValueError(f"{', '.join(twice)} is there more than once, and would be counted so")
        return flows


def read_manifest(run: Path) -> Manifest:
    """Return the manifest of the run in directory `run`.

    Raises NotARun, FutureSchema, or UnreadableInput that names the first wrong key.
    """
    return manifest_of(run, read_content(run))


def manifest_of(run: Path, content: dict[str, Any]) -> Manifest:
    """Return the manifest that `content` is, as `read_content` returned it.

    Raises UnreadableInput that names the first wrong key.
    """
    file = run / "run.json"
    try:
        return Manifest.model_validate(content)
    except ValidationError as error:
        raise malformed(file, error, _FORM) from None


def read_content(run: Path) -> dict[str, Any]:
    """Return run.json as it was written, of a version that is known; else as `read_manifest`.

    A run.json that has no digest, of an earlier version, is returned as it stands.
    """
    file = run / "run.json"
    content = _json(file)
    need_known(file, content.get("schema_version"), SCHEMA_VERSION)
    need_intact(file, content, "restore it from a copy, or make the run again")
    return content


def write_manifest(
    run: Path, content: dict[str, Any], files: list[dict[str, Any]] | None = None
) -> None:
    """Write run.json, which `read_manifest` can read, with the digests of the run's `files`.

    Without `files`, it has those that `content` has. Raises UnreadableInput if it could not be
    read, OSError if it cannot be written.
    """
    content = sealed(content, files)
    manifest_of(run, content)
    write_json(run / "run.json", content)


def write_json(file: Path, content: dict[str, Any]) -> None:
    """Write a record with its digest: a reader sees the old file or the new one."""
    durable.write_text(file, json_text(sealed(content)))


def json_text(content: dict[str, Any]) -> str:
    """Return the text of a JSON file of ours."""
    return json.dumps(content, indent=2) + "\n"


def _json(file: Path) -> dict[str, Any]:
    try:
        content = read_json(file)
    except (FileNotFoundError, NotADirectoryError):
        raise NotARun(
            file.parent, "not a run directory (it has no run.json)", "make one with `ccu run`"
        ) from None
    except PermissionError:
        raise UnreadableInput(file, "not readable by this user", "ask its owner, or sudo") from None
    except OSError as error:
        raise UnreadableInput(file, error.strerror or str(error), _FORM) from None
    except ValueError as error:
        raise UnreadableInput(file, f"not valid JSON ({error})", _FORM) from None
    if not isinstance(content, dict):
        raise UnreadableInput(file, "not a JSON object", _FORM)
    return content
