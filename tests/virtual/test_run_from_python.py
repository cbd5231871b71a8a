# SPDX-License-Identifier: Apache-2.0
"""An experiment from Python, as a notebook makes it."""

from __future__ import annotations

from pathlib import Path

import over5g


def test_a_run_is_a_data_frame_and_shows_its_report(kernel: Path, tmp_path: Path) -> None:
    one = over5g.run("cubic", prb=24, duration="2s", testbed="virtual", output=tmp_path)
    assert one.path.parent == tmp_path
    assert one.summary["goodput_bps"] > 1e6
    assert one.aligned["tcp_rtt_ms"].min() > 1
    shown = f"{one.summary['goodput_bps'] / 1e6:.1f} Mbit/s goodput"
    assert repr(one).startswith(f"<Run {one.path}: verdict: valid · {shown}")
    assert one._repr_html_().startswith('<iframe srcdoc="&lt;!doctype html')
    assert over5g.open_run(one.path).summary == one.summary
