# SPDX-License-Identifier: Apache-2.0
"""Reads the softmodems' command line; like them, it takes no unknown option."""

import sys

FLAGS = {"--rfsim", "-E", "--telnetsrv", "--sa", "--continuous-tx", "--ue-fo-compensation"}
VALUES = {
    *("-O", "-r", "--numerology", "--band", "-C", "--ssb", "--telnetsrv.listenaddr"),
    *("--telnetsrv.listenport", "--telnetsrv.shrmod", "--log_config.global_log_options"),
    *("--rfsimulator.[0].options", "--rfsimulator.[0].serveraddr"),
}


def parse(arguments):
    found = {}
    words = iter(arguments)
    for word in words:
        if word in FLAGS:
            found[word] = True
        elif word in VALUES:
            found[word] = next(words)
        else:
            sys.exit(f"[CONFIG] unknown option: {word}")
    return found
