# SPDX-License-Identifier: Apache-2.0
"""The settings of path and link that a scenario fixes besides the channel (docs/scenarios.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ccu.scenarios import nr_link, radios
from ccu.spec.fields import HEADERS_BYTES
from ccu.spec.radio import DRX
from ddu.console.problems import refusal

Settings = dict[str, tuple[Any, str]]
"""The fields of an Experiment, each with the part of the scenario that sets it."""

# Keys of a direction of `path`, and of `link`, that have the same name in an experiment.
_LINE = ("bit_error_ratio", "rate_mbps", "queue", "cross_traffic")
_LINK = ("carrier_ghz", "numerology", "prb", "duplex", "mcs_table")

# The link starts before the traffic; afterwards queues drain and results are exchanged.
_AROUND_S = 3.0


def settings(file: Path, taken: set[str]) -> Settings:
    """Return the settings that the scenario in `file` fixes, without the user's own in `taken`.

    Raises RefusedError if the scenario breaks a rule.
    """
    content = nr_link.scenario(file)
    path, link = content.get("path", {}), content.get("link", {})
    fixed = {key: (value, "path") for key, value in _of_path(path, taken).items()}
    fixed |= {key: (link[key], "link") for key in _LINK if key in link}
    if "drx" in link and not {"drx", "radio.drx"} & taken:
        own, _ = radios.read(DRX, link["drx"])
        fixed |= {f"radio.{key}": (value, "link.drx") for key, value in own.items()}
    return {key: value for key, value in fixed.items() if key not in taken}


def gives_capacity(file: Path) -> bool:
    """Return whether the scenario sets the link's capacity itself: then there is no radio."""
    return bool(nr_link.scenario(file)["gives_capacity"])


def check_time(file: Path, duration_s: float) -> None:
    """Raise RefusedError if the scenario ends, as `at_end: stop` says, before a run is over."""
    content = nr_link.scenario(file)
    lasts_s = content["duration_s"]
    if content["at_end"] == "stop" and duration_s > lasts_s - _AROUND_S:
        raise refusal(
            f"{file.name} stops after {lasts_s:g} s, and silence would keep the flows from ending",
            f"give {lasts_s - _AROUND_S:g}s at most (or at_end: loop in the scenario)",
            key="duration",
        )


def _of_path(path: dict[str, Any], taken: set[str]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if "mtu_bytes" in path:
        fields["mss_bytes"] = path["mtu_bytes"] - HEADERS_BYTES
    directions = {key: path[key] for key in ("dl", "ul") if key in path}
    delays = {direction: part["delay_ms"] for direction, part in directions.items()}
    if delays and "rtt_ms" not in taken:
        fields["rtt_ms"] = round(sum(delays.values()), 9)
        if delays.get("dl") != delays.get("ul"):
            fields["dl_delay_ms"] = delays.get("dl", 0.0)
    losses = {direction: part.get("loss_ratio", 0.0) for direction, part in directions.items()}
    if any(losses.values()):
        fields["loss"] = losses
    # Keys that an experiment has by the same names.
    lines = {
        direction: {key: part[key] for key in _LINE if key in part}
        for direction, part in directions.items()
    }
    if any(lines.values()):
        fields["path"] = lines
    queues = path.get("queue", {})
    if "buffer" not in taken:
        if "dl" in queues:
            fields["buffer"] = queues["dl"]
        if queues.get("ul") != queues.get("dl") and "ul" in queues:
            fields["ul_buffer"] = queues["ul"]
    return fields
