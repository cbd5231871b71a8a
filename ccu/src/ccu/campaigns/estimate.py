# SPDX-License-Identifier: Apache-2.0
"""The cost of a campaign's runs: time of this machine, and disk space, by what is kept."""

from __future__ import annotations

from ccu.runs.disk_space import mac_samples_per_s, raw_bytes, socket_samples_per_s
from ccu.scenarios.load import load
from ccu.spec.experiment import Experiment
from ccu.testbeds import driver_of
from ddu.campaign.definition import Keep

START_S = 4.0
"""The start of a campaign: its checks, and the processes of runs and of analyses with their
imports. CPU time beside the runs, of 8 and of 18 on cores with a load of 12, which makes it half
as long again."""
# CPU time of `ddu analyze --no-report` without Python's start, fitted to runs of 60 to 300 s; each
# of them is within 54 % of the fit.
_ANALYSIS_S = 0.12
_ANALYSIS_S_PER_SECOND = 0.0025
_ANALYSIS_S_PER_PACKET = 0.65e-6
# run.json with its list of what was dropped, summary.json, the scenario, logs.
_SUMMARY_BYTES = 16e3
# CSV and Parquet: distributions and headers, and a row for each sample or bin of 20 ms.
_TABLES_BYTES = 360e3
_ROW_BYTES = 700
# The page of a run, most of which is the program that draws its plots.
_PAGE_BYTES = 2.1e6


def expected_s(experiment: Experiment, keep: Keep) -> float:
    """Return about how long a run takes, and its analysis if it is analysed at once."""
    run_s = driver_of(experiment).expected_s(experiment)
    return run_s if keep == "raw" else run_s + analysis_s(experiment)


def analysis_s(experiment: Experiment) -> float:
    """Return about how long the analysis of a run takes."""
    packets, duration_s = load(experiment)
    return _ANALYSIS_S + _ANALYSIS_S_PER_SECOND * duration_s + _ANALYSIS_S_PER_PACKET * packets


def slowdown(load: float, at_once: int, cores: int) -> float:
    """Return how many times as long runs take beside other programs, which use `load` cores."""
    return max(1.0, (load + at_once) / max(cores, at_once))


def kept_bytes(experiment: Experiment, keep: Keep) -> float:
    """Return about how much disk space a run takes once the campaign has its report."""
    if keep == "summary":
        return _SUMMARY_BYTES
    packets, duration_s = load(experiment)
    samples = duration_s * (socket_samples_per_s(experiment) + mac_samples_per_s(experiment))
    tables = _SUMMARY_BYTES + _TABLES_BYTES + samples * _ROW_BYTES
    if keep == "tables":
        return tables
    return raw_bytes(experiment, packets, duration_s) + tables + _PAGE_BYTES
