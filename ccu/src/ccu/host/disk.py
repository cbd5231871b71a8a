# SPDX-License-Identifier: Apache-2.0
"""The disk space of a run's captures: estimated before the run, and watched during it."""

from __future__ import annotations

import os
from pathlib import Path

from ccu.spec.errors import RunFailed
from ccu.spec.experiment import Experiment
from testbed_console.problems import refusal

# Reserved for others: a full disk harms more than this run.
_RESERVE_BYTES = 64 * 2**20
# 128 bytes of each packet and 16 of pcap's record header, at both ends; half as many ACKs.
_BYTES_PER_PACKET = (128 + 16) * 2 * 1.5
# One layer of 64QAM, 948/1024 · 6 bit (TS 38.214 table 5.1.3.1-1), on 12 · 14 elements a slot.
_BITS_PER_PRB_SLOT = 948 / 1024 * 6 * 12 * 14

_WITH_RETRANSMISSIONS = 1.5


def amount(size_bytes: float) -> str:
    """Return a readable size such as `0 B`, `12 MB`, `3.4 GB`."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size_bytes >= scale:
            value = size_bytes / scale
            return f"{value:.1f} {unit}" if value < 10 else f"{value:.0f} {unit}"
    return f"{size_bytes:.0f} B"


def free_bytes(folder: Path) -> int:
    status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize


def needed_bytes(experiment: Experiment) -> int:
    """Return an upper bound of what the run writes: every slot full, in each direction used."""
    slots_per_s = 1000 * 2**experiment.numerology
    link_bps = experiment.prb * slots_per_s * _BITS_PER_PRB_SLOT * len(experiment.directions)
    crossing_bytes = link_bps / 8 * experiment.duration_s
    if (volume := experiment.traffic.volume_bytes) is not None:
        senders = len(experiment.flows) * len(experiment.directions)
        crossing_bytes = min(crossing_bytes, _WITH_RETRANSMISSIONS * volume * senders)
    packets = crossing_bytes / experiment.mtu_bytes
    captures = packets * _BYTES_PER_PACKET if experiment.capture else 0
    # inet_diag's answer for a flow is about 600 bytes, a row of MAC samples 500.
    sockets = len(experiment.flows) * 600 * experiment.duration_s * 1e3
    samples = 500 * experiment.duration_s * 1e3 / experiment.mac_interval_ms
    return round(captures + sockets / experiment.socket_interval_ms + samples)


def check(experiment: Experiment, folder: Path) -> None:
    """Raise RefusedError if the run may not fit."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not existing.is_dir():
        raise refusal(f"{existing} is a file", "name a directory", key="--output")
    needed, free = needed_bytes(experiment), free_bytes(existing)
    if needed + _RESERVE_BYTES > free:
        raise refusal(
            f"{existing} has {amount(free)} free, and the run may write up to "
            f"{amount(needed + _RESERVE_BYTES)}",
            "free some, choose another disk, or --no-capture",
            key="--output",
        )


def watch(folder: Path) -> None:
    """Raise RunFailed before the disk is full."""
    if (free := free_bytes(folder)) < _RESERVE_BYTES:
        raise RunFailed("disk", f"only {amount(free)} are free on the disk of {folder}")
