# SPDX-License-Identifier: Apache-2.0
"""Measure imports of 100 MB, playback of every shipped scenario, and nr-link's memory for each."""

from __future__ import annotations

import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from ccu.host import programs
from ccu.scenarios import LIBRARY, library, link_config, locate
from ccu.scenarios.play import duration_s, experiment

PAGE = LIBRARY.parent / "docs/benchmarks/rf-scenarios.md"
CCU = Path(sys.executable).with_name("ccu")
BYTES = 100_000_000
IMPORT_BAR_S, PLAY_BAR_S, MEMORY_BAR_MB = 5.0, 60.0, 100.0
NOISE = np.random.default_rng(1)


def mahimahi(file: Path) -> None:
    """Write a trace of about 1 Gbit/s: 83 delivery opportunities per ms."""
    np.savetxt(file, np.sort(NOISE.integers(0, BYTES // 7 // 83, BYTES * 11 // 70)), fmt="%d")


def ucc5g(file: Path) -> None:
    """Write six hours with many rows per second, in the columns of the data set."""
    row = "{t},-8.5,51.9,2,B,1,5G,{rsrp},-12,{snr},10,-89,{rate},10,D,-,-,-,-,-,1,A,B,C,-89,-13\n"
    stamps = [time.strftime("%Y.%m.%d_%H.%M.%S", time.gmtime(1.6e9 + s)) for s in range(21_600)]
    with file.open("w") as out:
        out.write("Timestamp,Longitude,Latitude,Speed,Operatorname,CellID,NetworkMode,RSRP,RSRQ,")
        out.write("SNR,CQI,RSSI,DL_bitrate,UL_bitrate,State,PINGAVG,PINGMIN,PINGMAX,PINGSTDEV,")
        out.write("PINGLOSS,CELLHEX,NODEHEX,LACHEX,RAWCELLID,NRxRSRP,NRxRSRQ\n")
        per_second = BYTES // len(stamps) // 80
        for second, t in enumerate(stamps):
            rsrp, snr = -80 - second % 30, second % 25
            out.write(row.format(t=t, rsrp=rsrp, snr=snr, rate=second) * per_second)


def taps(file: Path) -> None:
    """Write four taps, 390 000 rows."""
    count = 390_000
    columns: dict[str, np.ndarray] = {"t_s": np.arange(count) / 1000}
    for tap in range(1, 5):
        columns[f"delay_ns_{tap}"] = np.full(count, 100.0 * tap)
        columns[f"re_{tap}"] = NOISE.normal(size=count) * 1e-4
        columns[f"im_{tap}"] = NOISE.normal(size=count) * 1e-4
    pd.DataFrame(columns).to_csv(file, index=False, float_format="%.15f")


def took_s(command: list[str]) -> tuple[float, float]:
    """Return wall-clock and CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    took = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def imports(folder: Path) -> list[str]:
    rows = []
    for form, make in (("mahimahi", mahimahi), ("ucc5g", ucc5g), ("taps", taps)):
        file = folder / f"{form}.txt"
        make(file)
        began = time.monotonic()
        shutil.copyfile(file, folder / "copy")
        copy_s = time.monotonic() - began
        began = time.monotonic()
        pd.read_csv(file, header=None if form == "mahimahi" else 0)
        pandas_s = time.monotonic() - began
        into = folder / form
        ours_s, cpu_s = took_s(
            [str(CCU), "scenario", "import", form, str(file), "--output", str(into)]
        )
        rows.append(
            f"| import of {form}, {file.stat().st_size / 1e6:.0f} MB | < {IMPORT_BAR_S:g} s "
            f"| {ours_s:.2f} s, {cpu_s:.2f} s of CPU "
            f"| {ours_s / pandas_s:.1f} times the time that pandas needs to read the file, "
            f"{pandas_s:.2f} s; "
            f"a copy takes {copy_s:.2f} s |"
        )
        file.unlink()
    return rows


def peak_mb(command: list[str]) -> float:
    """Return a child's peak resident memory by its VmHWM; rusage would include ours at the fork."""
    peak_kb = 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as child:
        status = Path(f"/proc/{child.pid}/status")
        while child.poll() is None:
            lines = [one for one in status.read_text().splitlines() if one.startswith("VmHWM")]
            peak_kb = max([peak_kb, *(int(one.split()[1]) for one in lines)])
            time.sleep(0.002)
    if child.returncode:
        raise SystemExit(f"{' '.join(command)} ended with code {child.returncode}")
    return peak_kb / 1e3


def play(name: str, folder: Path) -> float:
    """Play a whole scenario; return nr-link's peak resident memory in MB."""
    planned = experiment(name, {})
    file = locate(name)
    config = link_config.write(planned, file, folder)
    arguments = ["--config", str(config), "--seconds", repr(duration_s(file))]
    return peak_mb([programs.require("nr-link"), "capacity", *arguments])


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="scenarios-") as made:
        folder = Path(made)
        began = time.monotonic()
        peaks = {name: play(name, folder) for name in library()}
        played_s = time.monotonic() - began
        worst = max(peaks, key=peaks.__getitem__)
        rows = imports(folder)
        for form in ("mahimahi", "taps"):
            peaks[form] = play(str(folder / form / f"{form}.yaml"), folder)
    rows += [
        f"| playback of every shipped scenario in full ({len(library())} files) "
        f"| < {PLAY_BAR_S:g} s | {played_s:.1f} s | |",
        f"| nr-link's memory, largest of all scenarios ({worst}) | < {MEMORY_BAR_MB:g} MB "
        f"| {peaks[worst]:.0f} MB | |",
        *(
            f"| nr-link's memory with the imported 100 MB of {form} | < {MEMORY_BAR_MB:g} MB "
            f"| {peaks[form]:.0f} MB | |"
            for form in ("mahimahi", "taps")
        ),
    ]
    cpu = next(
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    )
    about = (
        f"{time.strftime('%Y-%m-%d', time.gmtime())}, {cpu}, {os.cpu_count()} cores, "
        f"{platform.system()} {platform.release()}, load over the last 15 minutes "
        f"{os.getloadavg()[2]:.1f}."
    )
    head = "| measurement | limit | result | for comparison |\n|---|---|---|---|"
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(
        f"# Scenarios: benchmarks\n\n{about} "
        "`make bench COMPONENT=rf-scenarios` writes this file.\n\n"
        + "\n".join([head, *rows])
        + "\n"
    )
    print(PAGE.read_text())


if __name__ == "__main__":
    main()
