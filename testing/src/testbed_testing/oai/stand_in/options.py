# SPDX-License-Identifier: Apache-2.0
"""Reads the softmodems' command line; like them, it takes no unknown option.

ERA=2023 (environment): `--sa` is needed, and rfsim's options have no index.
"""

import os
import sys

OLD = os.environ.get("ERA") == "2023"
PREFIX = "--rfsimulator." if OLD else "--rfsimulator.[0]."

FLAGS = {"--rfsim", "-E", "--telnetsrv", "--continuous-tx", "--ue-fo-compensation"}
VALUES = {
    *("-O", "-r", "--numerology", "--band", "-C", "--ssb", "--telnetsrv.listenaddr"),
    "--usrp-args",
    *("--telnetsrv.listenport", "--telnetsrv.shrmod", "--log_config.global_log_options"),
    *(PREFIX + "options", PREFIX + "serveraddr"),
}


def parse(arguments):
    found = {}
    words = iter(arguments)
    for word in words:
        if word in FLAGS or (OLD and word == "--sa"):
            found[word] = True
        elif word in VALUES:
            found[word] = next(words)
        else:
            sys.exit(f"[CONFIG] unknown option: {word}")
    if OLD and not found.pop("--sa", False):
        sys.exit("without --sa this version attaches to no core")
    return found
