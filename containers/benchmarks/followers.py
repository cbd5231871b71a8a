# SPDX-License-Identifier: Apache-2.0
"""Measure the CPU cost of following the gNB's statistics files."""

from __future__ import annotations

import tempfile
import threading
import time
from pathlib import Path

from ccu.testbeds.oai import gnb_files
from ccu.testbeds.oai.gnb_files import GnbFiles

SECONDS = 15.0


def _cpu_ratio() -> float:
    began = time.process_time()
    time.sleep(SECONDS)
    return (time.process_time() - began) / SECONDS


def cost_ratio(folder: Path) -> float:
    """Return CPU seconds per second for following three files that are rewritten once a second."""
    gnb_files._WORKING_FOLDERS = (str(folder).lstrip("/"),)
    kept = folder / "kept"
    kept.mkdir()
    over = threading.Event()

    def write() -> None:
        while not over.wait(1.0):
            for name in gnb_files.NAMES:
                (folder / name).write_text("UE 4cba: MAC:    TX 1 RX 1 bytes\n" * 60)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    alone = _cpu_ratio()
    followed = GnbFiles(lambda: 1, kept)
    followed.start()
    together = _cpu_ratio()
    followed.finish()
    over.set()
    writer.join()
    return together - alone


def measure() -> list[str]:
    """Return the paragraph in Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        ratio = cost_ratio(Path(folder))
    return [
        "## Followers",
        "",
        "CPU time for following the gNB's three statistics files (limit: 1 % of a core): "
        f"{ratio:.2%} of a core.",
    ]
