# SPDX-License-Identifier: Apache-2.0
"""Reads the softmodems' command line; like them, it takes no unknown option.

ERA (environment): the year of the version. Before 2026, rfsim's options have no index and its blocks
no beams. In 2023, `--sa` is needed, and threads always ask for real-time priority.
REAL_TIME=granted: the kernel would give it.
"""

import os
import re
import sys
from pathlib import Path

ERA = os.environ.get("ERA", "2026")
OLD = ERA == "2023"
OLD_RFSIM = ERA < "2026"
SYS_NICE = 1 << 23  # include/uapi/linux/capability.h
PREFIX = "--rfsimulator." if OLD_RFSIM else "--rfsimulator.[0]."

FLAGS = {
    "--noS1",
    "--do-ra",
    "--rfsim",
    "-E",
    "--telnetsrv",
    "--continuous-tx",
    "--ue-fo-compensation",
}
VALUES = {
    *("--reconfig-file", "--rbconfig-file", "--opt.type", "--opt.path"),
    *("-O", "-r", "--numerology", "--band", "-C", "--ssb", "--telnetsrv.listenaddr"),
    *("--usrp-args", "--ue-nb-ant-rx", "--ue-nb-ant-tx"),
    *("--telnetsrv.listenport", "--telnetsrv.shrmod", "--log_config.global_log_options"),
    *(PREFIX + "options", PREFIX + "serveraddr"),
}


def parse(arguments):
    options = {}
    words = iter(arguments)
    for word in words:
        if word in FLAGS or (OLD and word == "--sa"):
            options[word] = True
        elif word in VALUES:
            options[word] = next(words)
        else:
            sys.exit(f"[CONFIG] unknown option: {word}")
    if "-O" not in options:
        sys.exit("[CONFIG] no configuration file: -O is missing")
    if OLD and "--do-ra" not in options and not options.pop("--sa", False):
        sys.exit("without --sa this version attaches to no core")
    return options


def radio(given, config):
    """Return rfsim's options, from the file and then the command line, as the real reader: one of a
    list's element counts only if the file has that element, else it is silently ignored."""
    listed = "rfsimulator = ({" in config
    settings = {"serveraddr": "127.0.0.1", "options": ""}
    if written := re.search(r'serveraddr = "([^"]+)"', config):
        settings["serveraddr"] = written[1]
    for key in settings:
        if PREFIX + key in given and (OLD_RFSIM or listed):
            settings[key] = given[PREFIX + key]
    return settings


def sends_samples(given, config):
    """Return whether what is between the modems is a channel for their samples: rfsim has none."""
    return "--rfsim" in given and radio(given, config)["options"] != "chanmod"


def ask_for_priority():
    """Ends as the real modems where the kernel refuses SCHED_FIFO: they ask for it with SYS_NICE,
    old ones always."""
    held = int(re.search(r"CapEff:\s*(\w+)", Path("/proc/self/status").read_text())[1], 16)
    if not (OLD or held & SYS_NICE) or os.environ.get("REAL_TIME") == "granted":
        return
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        sys.exit(
            "Assertion (ret == 0) failed!\nIn threadCreate() /oai-ran/common/utils/system.c:284\n"
            "Error in pthread_create(): ret: 1, errno: 0"
        )
