# SPDX-License-Identifier: Apache-2.0
"""Small runs with every kind of source, for the tests of the store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ddu.analyze import BIN_NS, analysis_of
from ddu.run.manifest import read_manifest
from ddu.store.connect import connected
from ddu.store.live import Followed, _begin, _copy_new, _find_files
from ddu.tables.store import write_table
from testsupport.synthetic_run import MS, T0, SyntheticRun


def two_flows(packets: int = 200) -> SyntheticRun:
    """Flow 0 sends at 1448 B a ms, flow 1 at half of it; one packet of flow 0 is lost."""
    run = SyntheticRun(ccs=("cubic", "reminis"))
    for flow in (0, 1):
        run.handshake(flow)
        for index in range(packets // (flow + 1)):
            sent = index * MS * (flow + 1)
            lost = flow == 0 and index == 50
            run.data(sent, index * 1448, 1448, 100 + index, None if lost else sent + 10 * MS, flow)
            if not lost:
                run.ack(sent + 10 * MS, (index + 1) * 1448, 100 + index, sent + 20 * MS, flow)
    return run


def with_radio(run: Path) -> Path:
    """Adds samples of two UEs' MAC in two cells, of the link's timing and of Reminis."""
    manifest = json.loads((run / "run.json").read_text())
    start = T0 - 100 * MS
    gauges = ["rsrp_dbm", "sinr_db", "ul_snr_db", "cqi", "ri", "phr_db", "pcmax_dbm"]
    for way in ("dl", "ul"):
        gauges += [
            f"{way}_{name}" for name in ("mcs", "bler_ratio", "rlc_queue_bytes", "rlc_wait_ms")
        ]
    counted = ("sdu_bytes", "capacity_sdu_bytes", "prb_count", "rounds_1_count", "errors_count")
    counters = [f"{way}_{name}" for way in ("dl", "ul") for name in counted]
    names = ["utc_ns", "duration_ns", "ue", "mac_cell"]
    names += [f"mac_{name}" for name in gauges + counters]
    mac = [",".join(names)]
    link = ["utc_ns,duration_ns,lateness_p99_us,overrun_count,host_drop_count,cpu_ratio"]
    cc = ["utc_ns,sport,dport,zone,action,delay_us,dtt_us"]
    for index in range(40):
        at = start + index * 10 * MS
        for ue, rsrp_dbm, cqi, grows in ((0, -80.5, 15, 15000), (1, -95.25, "", 500)):
            values = [rsrp_dbm, index % 7, 20, cqi, 2, 10, 23, *[index % 28, 0.125, 3000, 1.5] * 2]
            grown = [index * grows] * len(counters)
            mac.append(",".join(map(str, [at, 10 * MS, ue, ue, *values, *grown])))
        link += [f"{at},{10 * MS},42.5,{index // 10},0,0.25"]
        cc += [f"{at},40002,5202,{1 + index % 3},nde,{index * 100},30000"]
    for name, lines in (("mac", mac), ("link", link), ("cc-reminis", cc)):
        (run / "raw" / f"{name}.csv").write_text("\n".join(lines) + "\n")
    events = [
        {"utc_ns": start + ue * 50 * MS, "ue": ue, "kind": "cell_selected", "cell": ue}
        for ue in (0, 1)
    ]
    lines = "".join(json.dumps(event) + "\n" for event in events)
    (run / "raw" / "radio-events.jsonl").write_text(lines)
    (run / "raw" / "link-summary.json").write_text('{"verdict": "valid", "cpu_ratio": 0.125}')
    sources: dict[str, Any] = {name: {"file": f"raw/{name}.csv"} for name in ("mac", "link")}
    sources["cc_trace"] = {"cc": "reminis", "file": "raw/cc-reminis.csv"}
    (run / "run.json").write_text(json.dumps(manifest | sources))
    return run


def tabled(run: Path, bin_ns: int = BIN_NS) -> Path:
    """Write the results of `ddu analyze` without report and figures, which take seconds."""
    analysis = analysis_of(run, bin_ns)
    (run / "tables").mkdir(exist_ok=True)
    for name, table in analysis.tables.items():
        write_table(run / "tables", name, table)
    (run / "summary.json").write_text(json.dumps(analysis.summary))
    return run


def followed(url: str, run: Path) -> int:
    """Store what `ddu publish --live` stores of a run in progress, once; return its number."""
    with connected(url) as connection:
        run_id = _begin(connection, run)
        files: dict[Path, Followed] = {}
        _find_files(run / "raw", read_manifest(run), files)
        for one in files.values():
            _copy_new(connection, run_id, one, print)
        return run_id


def say(run: Path, /, **changes: Any) -> None:
    """Change what run.json says, at once, as ccu does."""
    part = run / "run.part"
    part.write_text(json.dumps(json.loads((run / "run.json").read_text()) | changes))
    part.replace(run / "run.json")
