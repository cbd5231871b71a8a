# SPDX-License-Identifier: Apache-2.0
"""The disk space of a run: packets at both ends, and the samples of sockets and MAC."""

from __future__ import annotations

from pathlib import Path

from ccu.host import disk
from ccu.scenarios.load import most_packets
from ccu.spec.experiment import Experiment
from ccu.testbeds import driver_of
from ddu.console.problems import refusal

# pcap's record header; and half as many ACKs as packets, of 68 bytes.
_RECORD_BYTES = 16
_ACKS_BYTES = (_RECORD_BYTES + 68) / 2
# IPv4 and TCP with a timestamp.
_HEADERS_BYTES = 52
# inet_diag's answer for a flow, and a row of the MAC's table.
_SOCKET_SAMPLE_BYTES = 600
_MAC_SAMPLE_BYTES = 500


def socket_samples_per_s(experiment: Experiment) -> float:
    """Return how many samples of all sockets there are each second."""
    flows = len(experiment.flows) * len(experiment.directions)
    return flows * 1e3 / experiment.socket_interval_ms


def mac_samples_per_s(experiment: Experiment) -> float:
    """Return how many samples of all UEs' MAC there are each second."""
    return experiment.ues * 1e3 / experiment.mac_interval_ms


def raw_bytes(experiment: Experiment, packets: float, lasts_s: float) -> float:
    """Return about how much a run of `lasts_s` writes if `packets` of data cross its link."""
    of_mac = mac_samples_per_s(experiment) * lasts_s * _MAC_SAMPLE_BYTES
    if not experiment.capture:
        return of_mac
    of_sockets = socket_samples_per_s(experiment) * lasts_s * _SOCKET_SAMPLE_BYTES
    return of_mac + of_sockets + packets * _packet_bytes(experiment)


def _packet_bytes(experiment: Experiment) -> float:
    """Return what a packet and its ACK are in the captures of both ends."""
    kept = min(experiment.snaplen_bytes, experiment.mtu_bytes)
    is_tcp = all(experiment.traffic_of(plan).own_ccs is None for plan in experiment.flows)
    if is_tcp and kept < experiment.mtu_bytes and driver_of(experiment).own_kernel:
        return 2 * (_RECORD_BYTES + _HEADERS_BYTES) * 1.5  # docs/run-directory.md, sender.pcap
    return 2 * (_RECORD_BYTES + kept + _ACKS_BYTES)


def most_bytes(experiment: Experiment) -> float:
    """Return about how much the run writes if its traffic takes all that the link carries."""
    return raw_bytes(experiment, most_packets(experiment), experiment.duration_s)


def check(experiment: Experiment, folder: Path) -> None:
    """Raise RefusedError if the run may not fit."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not existing.is_dir():
        raise refusal(f"{existing} is a file", "name a directory", key="--output")
    needed = most_bytes(experiment) + disk.RESERVE_BYTES
    if needed > (free := disk.free_bytes(existing)):
        raise refusal(
            f"{existing} has {disk.amount(free)} free, and the run may write up to "
            f"{disk.amount(needed)}",
            "free some, choose another disk, or --no-capture",
            key="--output",
        )
