# SPDX-License-Identifier: GPL-2.0-only
"""Test the module inside the kernel of the virtual testbed, where it is compiled in.

Loading, unloading, the module beside the BPF program, signatures and the allocator's checks need
modules and BPF, which that kernel lacks: tests/qemu.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ..core_binding import PROFILE_NR, params
from ..replay import Row, agreeing_rows, flows_of

NR_LINK = Path(sys.executable).parent / "nr-link"
PARAMETERS = "/sys/module/tcp_reminis/parameters"
RATE_MBIT = 40
PORT = 5201
SCENARIO = {
    "schema": "rf-scenario/1",
    "name": "constant",
    "summary": "A constant rate.",
    "sources": ["chosen"],
    "license": "Apache-2.0",
    "duration_s": 60,
    "at_end": "loop",
    "capacity": {way: {"constant_mbps": RATE_MBIT} for way in ("dl", "ul")},
}
# 20 ms, with a queue of 300 ms, which Reminis never fills.
LINK = {
    "schema": "nr-link/1",
    "seed": 1,
    "mtu_bytes": 1500,
    "scenario": "scenario.yaml",
    "path": {way: {"delay_ms": 10} for way in ("dl", "ul")},
    "queue": {way: {"packets": RATE_MBIT * 25} for way in ("dl", "ul")},
    "samples": {"interval_ms": 10},
    "devices": {
        "core": {"name": "n6"},
        "ue": [{"name": "ue1", "addresses": ["10.45.0.2"]}],
    },
    "output": {"mac": "mac.csv", "link": "link.csv", "summary": "link-summary.json"},
}
COMPLAINTS = ("BUG:", "WARNING:", "Oops", "refcount")


@dataclass
class Booted:
    """The output of the server's script in virtual time, and of kernel and module."""

    printed: list[str]
    log: str
    trace: Path

    def fields(self, line: int) -> dict[str, int]:
        """A line of `traffic send`: NAME=NUMBER …"""
        pairs = (pair.split("=") for pair in self.printed[line].split())
        return {name: int(value) for name, value in pairs}

    def data_rows(self) -> list[Row]:
        """The trace of the flow that has most SIs."""
        return max(flows_of(self.trace).values(), key=len)


Boot = Callable[[str], Booted]


@pytest.fixture
def boot(traffic: Path, tmp_path: Path) -> Boot:
    """Boots the kernel, with a sink on the UE, and runs a shell script on the server."""
    if not NR_LINK.exists():
        pytest.skip("nr-link is not built (make build)")
    doctor = subprocess.run([NR_LINK, "virtual", "doctor"], capture_output=True, text=True)
    if doctor.returncode:
        pytest.skip(doctor.stderr.strip())

    def run(script: str) -> Booted:
        words = f'cd {PARAMETERS}\nsend() {{ {traffic} send 10.45.0.2 {PORT} "$@"; }}\n{script}\n'
        programs: list[dict[str, Any]] = [
            {"host": "ue", "command": [str(traffic), "sink", str(PORT)], "service": True},
            {
                "host": "server",
                "start_s": 0.1,
                "command": ["sh", "-c", f"{words}dmesg >{tmp_path}/log"],
                "output": "printed",
            },
        ]
        plan = {
            "schema": "nr-link-virtual/1",
            "link": "link.yaml",
            "cc_traces": {"reminis": "cc-reminis.csv"},
            "module_parameters": {"tcp_reminis": {"seed": "1"}},
            "programs": programs,
        }
        for name, content in (("scenario", SCENARIO), ("link", LINK), ("plan", plan)):
            (tmp_path / f"{name}.yaml").write_text(json.dumps(content))
        ended = subprocess.run(
            [NR_LINK, "virtual", "run", tmp_path / "plan.yaml"],
            capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        log = (tmp_path / "log").read_text()
        assert not [word for word in COMPLAINTS if word in log], log
        printed = (tmp_path / "printed").read_text().splitlines()
        return Booted(printed, log, tmp_path / "cc-reminis.csv")

    return run


@pytest.mark.parametrize(
    ("parameter", "wrong", "reason"),
    [
        ("dtt_us", "0", 'a DTT is a number of microseconds from 1 to 10000000, not "0"'),
        ("dtt_us", "-5", "a DTT is a number of microseconds"),
        ("dtt_us", "10000001", "a DTT is a number of microseconds"),
        ("port_dtt", "5201:0", "a DTT is a number of microseconds"),
        ("port_dtt", "70000:30000", "port_dtt: give up to 32 of PORT:MICROSECONDS"),
        ("dtt_percent", "100", "dtt_percent: not valid"),
        ("no_nde", "maybe", "Give Y or N"),
        ("seed", "-1", "seed: not valid"),
    ],
)
def test_a_wrong_parameter_is_refused_and_changes_nothing(
    boot: Boot, parameter: str, wrong: str, reason: str
) -> None:
    write = f"(echo {wrong} >{parameter}) 2>/dev/null && echo taken || echo refused"
    booted = boot(f"cat {parameter}; {write}; cat {parameter}")
    before, answer, after = booted.printed
    assert answer == "refused"
    assert before == after
    assert reason in booted.log


def test_written_parameters_are_reported(boot: Boot) -> None:
    written = {"dtt_us": "40000", "port_dtt": "5201:30000,80:60000", "dtt_percent": "200"}
    written |= {"no_ps": "Y", "pacing": "N", "seed": "7"}
    script = "; ".join(f"echo {value} >{name}; cat {name}" for name, value in written.items())
    booted = boot(f"{script}; echo default >dtt_us; cat dtt_us; echo >port_dtt; cat port_dtt")
    assert booted.printed == [*written.values(), "default", ""]


def test_it_fills_the_link_and_reports_its_state(boot: Boot) -> None:
    flow = boot("send reminis 12").fields(0)
    assert flow["acked"] > 0.6 * 12 * RATE_MBIT * 1e6 / 8
    assert 20_000 <= flow["mrtt_us"] <= 21_000  # TCP_CC_INFO
    assert flow["info_dtt_us"] == flow["mrtt_us"] * 3 // 2


def test_a_socket_has_its_own_dtt(boot: Boot) -> None:
    refused = ("send reminis 1 10000001", "send reno 1 30000")
    script = "send reminis 1 33000; send reminis 1 5000; "
    script += "; ".join(f"{one} 2>/dev/null && echo taken || echo refused" for one in refused)
    booted = boot(script)
    assert booted.fields(0)["dtt_us"] == 33_000
    raised = booted.fields(1)
    assert raised["dtt_us"] == raised["mrtt_us"] + raised["mrtt_us"] // 8
    assert booted.printed[2:] == ["refused", "refused"]


def test_a_port_has_its_own_dtt(boot: Boot) -> None:
    booted = boot(f"echo {PORT}:37000 >port_dtt; send reminis 1")
    assert booted.fields(0)["dtt_us"] == 37_000


def test_a_flow_survives_changes_of_parameters(boot: Boot) -> None:
    switches = "no_nde nde_mean no_ps no_cm no_aimd ewma stale_rtt jump_to_4"
    switches += " mean_base one_way nde_bounded cm_drain new_path"
    booted = boot(f"""
        send reminis 6 & sleep 1
        for round in 1 2 3 4 5; do
          for switch in {switches}; do echo Y >$switch; sleep 0.02; echo N >$switch; done
          echo $((round * 10000)) >dtt_us; echo {PORT}:$((round * 7000)) >port_dtt
        done
        wait
    """)
    assert booted.fields(0)["acked"] > 1_000_000


def test_a_thousand_flows_open_and_close(boot: Boot, traffic: Path) -> None:
    booted = boot(f"{traffic} flows 10.45.0.2 {PORT} reminis 1000")
    assert booted.printed == ["flows=1000"]


@pytest.mark.parametrize(
    ("script", "own_dtt_us", "factor"),
    [
        ("send reminis 12", 0, 1.5),
        ("send reminis 12 40000", 40_000, 1.5),
        ("echo 200 >dtt_percent; send reminis 12", 0, 2.0),
    ],
)
def test_its_decisions_are_those_of_the_core_on_this_host(
    boot: Boot, script: str, own_dtt_us: int, factor: float
) -> None:
    """The module decides as the BPF program does for the same samples (test_loader.py)."""
    rows = boot(script).data_rows()
    assert 12 / 0.035 < len(rows) < 12 / 0.02  # about one SI each mRTT
    assert {row["action"] for row in rows} == {"none", "nde", "ps", "cm"}
    assert agreeing_rows(rows, params(factor=factor, seed=1), own_dtt_us) == len(rows)
    assert agreeing_rows(rows, params(factor=factor, seed=2), own_dtt_us) < len(rows)


def test_its_decisions_for_a_radio_link_are_those_of_the_core(boot: Boot) -> None:
    """The reverse path is idle here: the peer's clock, in whole ms, shows no queue of it."""
    written = "mean_base one_way nde_bounded cm_drain"
    rows = boot(f"for one in {written}; do echo Y >$one; done; send reminis 12").data_rows()
    assert {row["action"] for row in rows} > {"none", "nde"}
    assert agreeing_rows(rows, params(switches=PROFILE_NR, seed=1)) == len(rows)
    assert agreeing_rows(rows, params(seed=1)) < len(rows)
