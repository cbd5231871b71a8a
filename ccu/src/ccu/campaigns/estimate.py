# SPDX-License-Identifier: Apache-2.0
"""What the runs of a campaign take: time of this machine, and disk space, by what is kept."""

from __future__ import annotations

from ccu.campaigns.keeping import Keep
from ccu.scenarios.load import load
from ccu.spec.experiment import Experiment
from ccu.testbeds import driver_of

# `ddu analyze --no-report` without its start, CPU time of runs of 60 to 300 s: within 54 % of each.
_ANALYSIS_S = 0.12
_ANALYSIS_SECOND_S = 0.0025
_ANALYSIS_PACKET_S = 0.65e-6
# 128 bytes of each packet and 16 of pcap's record header, at both ends; half as many ACKs.
_CAPTURED_BYTES = 2 * (144 + 84 / 2)
_SAMPLE_BYTES = 500
# run.json with its list of what was dropped, summary.json, the scenario, logs.
_SUMMARY_BYTES = 16e3
# CSV and Parquet: distributions and headers, and a row for each sample or bin of 20 ms.
_TABLES_BYTES = 360e3
_ROW_BYTES = 700


def expected_s(experiment: Experiment, keep: Keep) -> float:
    """Return about how long a run takes, and its analysis if it is analysed at once."""
    run_s = driver_of(experiment).expected_s(experiment)
    if keep == "raw":
        return run_s
    packets, lasts_s = load(experiment)
    return run_s + _ANALYSIS_S + _ANALYSIS_SECOND_S * lasts_s + _ANALYSIS_PACKET_S * packets


def kept_bytes(experiment: Experiment, keep: Keep) -> float:
    """Return about how much disk space a run takes in the end."""
    if keep == "summary":
        return _SUMMARY_BYTES
    packets, lasts_s = load(experiment)
    samples = lasts_s * _samples_per_s(experiment)
    if keep == "tables":
        return _SUMMARY_BYTES + _TABLES_BYTES + samples * _ROW_BYTES
    captured = packets * _CAPTURED_BYTES if experiment.capture else 0.0
    return _SUMMARY_BYTES + samples * _SAMPLE_BYTES + captured


def _samples_per_s(experiment: Experiment) -> float:
    """Return how many samples of sockets and MAC there are each second."""
    flows = len(experiment.flows) * len(experiment.directions)
    of_sockets = flows * 1e3 / experiment.socket_interval_ms
    of_mac = experiment.ues * 1e3 / experiment.mac_interval_ms
    return of_sockets + of_mac
