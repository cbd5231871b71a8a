# SPDX-License-Identifier: Apache-2.0
"""The interface of kernel and policies, and the declarations of congestion controls."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ccplane import abi
from ccplane.cubic import Cubic, Reno
from ccplane.flow import Flow
from ccplane.loader import machine
from ccplane.loop import Loop
from ccplane.policy_file import Policy, load
from ccplane.problem import PolicyError
from ccplane.trace import Trace
from ccu import congestion
from ccu.congestion import bpf, parameters, policy, verifier
from ccu.host import policies
from ccu.spec.experiment import Experiment
from ccu.spec.flow_plan import FlowPlan
from ddu.console.problems import RefusedError

ROOT = Path(__file__).parents[2]
HEADER = ROOT / "cc/plane/plane_abi.h"

# The log of Linux 6.18 for a write to tcp_sock.srtt_us, shortened.
LOG = """libbpf: prog 'toy_ssthresh': -- BEGIN PROG LOAD LOG --
0: R1=ctx() R10=fp0
; __u32 BPF_PROG(toy_ssthresh, struct sock *sk) @ toy.bpf.c:38
0: (79) r1 = *(u64 *)(r1 +0)
; tcp_sk(sk)->srtt_us = 5; @ toy.bpf.c:40
2: (63) *(u32 *)(r1 +1680) = r2
no write support to tcp_sock at off 1680
processed 3 insns (limit 1000000) max_states_per_insn 0 total_states 0
-- END PROG LOAD LOG --
libbpf: failed to load object '/tmp/toy.o'
cannot load /tmp/toy.o: errno 13
"""


def test_python_and_c_have_the_same_layouts(tmp_path: Path) -> None:
    text = HEADER.read_text()
    members = re.findall(r"struct plane_report \{(.*?)\n\};", text, re.DOTALL)[0]
    names = re.findall(r"__u\d+ (\w+);", members)
    prints = "\n".join(
        f'printf("%zu %zu\\n", offsetof(struct plane_report, {name}), '
        f"sizeof(((struct plane_report *)0)->{name}));"
        for name in names
    )
    (tmp_path / "layout.c").write_text(
        f'#include <stddef.h>\n#include <stdio.h>\n#include <linux/types.h>\n#include "{HEADER}"\n'
        f'int main(void) {{ {prints}\nprintf("%zu %zu %d %d\\n", sizeof(struct plane_report), '
        "sizeof(struct plane_command), PLANE_FLOWS, PLANE_RING_BYTES); }\n"
    )
    program = tmp_path / "layout"
    subprocess.run(["gcc", tmp_path / "layout.c", "-o", program], check=True)
    *places, sizes = subprocess.run([program], capture_output=True, text=True).stdout.splitlines()
    assert sizes == f"{abi.REPORT.size} {abi.COMMAND.size} {abi.FLOWS} {abi.RING_BYTES}"
    # Each member alone set to 1 has to be what Python reads as 1.
    for number, place in enumerate(places):
        offset, _ = map(int, place.split())
        block = bytearray(abi.REPORT.size)
        block[offset] = 1
        read = abi.Report._make(abi.REPORT.unpack(block))
        assert [at for at, value in enumerate(read) if value] == [number]
    assert len(places) == len(abi.Report._fields)


class Steady:
    """A policy."""

    def report(self, flow: object, report: abi.Report) -> None:
        """Leave the window."""


class Deaf:
    """A kernel that applies the first command only; each report is of an ACK 1 ms after it."""

    def __init__(self) -> None:
        self.numbers: list[int] = []

    def reports(self) -> Iterator[abi.Report]:
        nothing = abi.Report._make([0] * len(abi.Report._fields))
        for event in (abi.START, abi.ACKS, abi.ACKS):
            applied = self.numbers[0] if self.numbers else 0
            yield nothing._replace(
                time_ns=time.monotonic_ns(), event=event, cwnd=10, mss=1448, generation=1,
                applied=applied,
            )  # fmt: skip
            time.sleep(0.001)
        raise KeyboardInterrupt

    def command(self, index: int, command: bytes) -> None:
        assert index == 0
        self.numbers.append(abi.COMMAND.unpack(command)[0])


def test_a_command_that_an_ack_left_is_overdue(tmp_path: Path) -> None:
    trace = Trace(tmp_path / "trace.csv")
    with pytest.raises(KeyboardInterrupt):
        Loop(Policy(Steady, {}), Deaf(), trace).run()
    trace.flush()
    with (tmp_path / "trace.csv").open() as file:
        overdue_us = [row["overdue_us"] for row in csv.DictReader(file)]
    assert overdue_us[:2] == ["", "0.0"]
    assert float(overdue_us[2]) >= 1000


def test_the_verifiers_log_becomes_a_sentence_with_its_line(tmp_path: Path) -> None:
    refused = verifier.explained(LOG, tmp_path / "toy.bpf.c")
    assert str(refused).startswith(
        f"{tmp_path}/toy.bpf.c:40: the kernel's verifier refuses this: this field may be read, not "
        "written (no write support to tcp_sock at off 1680)"
    )


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ("bpf_struct_ops_link", "takes no congestion controls as BPF programs (struct_ops)"),
        ("bpf_struct_ops_tcp_congestion_ops", "boot Linux 6.4 or newer"),
    ],
)
def test_what_a_kernel_lacks_for_bpf_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: str, words: str
) -> None:
    types = tmp_path / "vmlinux"
    types.write_text(f"\0{names}\0")
    monkeypatch.setattr(machine, "BTF", types)
    assert words in (bpf.obstacle() or "")
    assert words in (policy.provider.of_file(Path("mine.py")).obstacle or "")


def test_a_policy_that_is_never_ready_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policies, "_MOST_S", 1.0)
    (tmp_path / "mine.py").write_text("import time\ntime.sleep(1000)\n")
    with pytest.raises(RefusedError, match="is not loaded and made within 1 s"):
        policy.provider.try_out("mine", tmp_path / "mine.py", {})


def test_the_tests_that_the_documentation_names_exist() -> None:
    text = (ROOT / "docs" / "congestion-controls.md").read_text()
    table = text.partition("## Tests that compare them")[2]
    named = re.findall(r"`([\w/]+\.py)`: `(\w+)`", table)
    assert len(named) > 10
    for file, test in named:
        assert re.search(rf"^def {test}\(", (ROOT / file).read_text(), re.MULTILINE), test


@pytest.mark.parametrize(
    ("written", "name", "file"),
    [
        ("./my/mine.py", "mine", "./my/mine.py"),
        ("mine.bpf.c", "mine", "mine.bpf.c"),
        ("cubic", "cubic", None),
    ],
)
def test_a_file_names_its_congestion_control(written: str, name: str, file: str | None) -> None:
    plan = FlowPlan.model_validate({"cc": written})
    assert (plan.cc, plan.cc_file) == (name, file)


def test_a_parameter_is_for_all_or_for_the_one_before_the_dot() -> None:
    flows = [{"cc": "./a.py"}, {"cc": "./b.py"}]
    parameters = {"period": "1ms", "a.gain": "2", "b.gain": "3"}
    experiment = Experiment.model_validate({"flows": flows, "cc_params": parameters})
    assert experiment.cc_params_of("a") == {"period": "1ms", "gain": "2"}
    assert experiment.cc_params_of("b") == {"period": "1ms", "gain": "3"}


def test_a_file_of_the_name_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "Did you mean cubic?" in str(congestion.not_there("cubid", ["cubic"]))
    (tmp_path / "cubid.py").write_text("")
    assert "Name the file: ./cubid.py" in str(congestion.not_there("cubid", ["cubic"]))


def test_two_files_cannot_have_one_name() -> None:
    with pytest.raises(ValueError, match="different congestion controls with the name a"):
        Experiment.model_validate({"flows": [{"cc": "./a.py"}, {"cc": "./other/a.py"}]})


@pytest.mark.parametrize("kind", [Cubic, Reno])
def test_after_a_timeout_a_window_grows_to_its_threshold(kind: type[Cubic]) -> None:
    """The policy retransmits losses in slow start, as Linux does (RFC 5681 section 3.1)."""
    window, nothing = kind(100.0), abi.Report._make([0] * len(abi.Report._fields))
    window.state(nothing._replace(ca_state=abi.LOSS))
    assert window.cwnd == 1
    for _ in range(7):
        acked = nothing._replace(ca_state=abi.LOSS, acked=int(window.cwnd), min_rtt_us=20_000)
        window.report(acked)
    assert window.ssthresh <= window.cwnd < 1.1 * window.ssthresh


def test_slow_start_ends_where_the_application_leaves_the_window_unused() -> None:
    window, nothing = Cubic(), abi.Report._make([0] * len(abi.Report._fields))
    for _ in range(1000):  # ten packets each time
        window.report(nothing._replace(acked=10, tx_inflight=10, min_rtt_us=20_000))
    assert window.cwnd < 40
    for _ in range(5):  # as many as the window admits, twice as many a round trip later
        window.report(nothing._replace(acked=int(window.cwnd), min_rtt_us=20_000))
    assert window.cwnd > 16 * 20


def test_an_idle_time_does_not_count_in_cubics_curve() -> None:
    def grown(idle_s: int) -> float:
        window, nothing = Cubic(200.0), abi.Report._make([0] * len(abi.Report._fields))
        window.state(nothing._replace(ca_state=abi.RECOVERY))
        for n in range(200):
            after = n >= 100
            flags = abi.CWND_LIMITED | (abi.APP_LIMITED if n == 100 else 0)
            now_ns = int(1e9 + n * 5e6 + after * (idle_s * 1e9 + 15e6))
            window.report(
                nothing._replace(
                    acked=20, flags=flags, time_ns=now_ns, rtt_us=20_000, min_rtt_us=20_000
                )
            )
        return window.cwnd

    assert grown(idle_s=10) == pytest.approx(grown(idle_s=0), rel=1e-3)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"alpha": "5"}, "beta=4: not a whole number from alpha=5 to 1000"),
        ({"beta": "1"}, "beta=1: not a whole number from alpha=2 to 1000"),
        ({"alpha": "x"}, "alpha=x: not a whole number from 1 to 1000"),
        ({"alpha": "02"}, "alpha=02: not a whole number from 1 to 1000"),
    ],
)
def test_vegas_refuses_an_alpha_above_beta(given: dict[str, str], said: str) -> None:
    source = ROOT / "cc/bpf/vegas.bpf.c"
    with pytest.raises(RefusedError, match=re.escape(said)):
        parameters.check("vegas", source, given)
    parameters.check("vegas", source, {"alpha": "5", "beta": "5"})


def test_each_flow_and_each_run_has_a_seed_of_its_own() -> None:
    start = abi.Report._make([0] * len(abi.Report._fields))._replace(acks=40_000, acked=5201)
    seeds = {
        Flow(start._replace(acked=port), 10.0, run_seed).seed
        for port in (5201, 5202)
        for run_seed in (1, 2)
    }
    assert len(seeds) == 4
    assert Flow(start, 10.0, 1).seed == Flow(start, 5.0, 1).seed


def test_a_change_to_a_value_that_no_flow_could_begin_with_is_refused() -> None:
    guardian = load(ROOT / "cc/policies/guardian.py", {})
    changed, values = guardian.changed({"nde": "off"})
    assert (changed.parameters["nde"], values) == ("off", {"nde": "off"})
    with pytest.raises(PolicyError, match="nde is draw, mean or off"):
        guardian.changed({"nde": "none"})


@pytest.mark.parametrize("kind", [Cubic, Reno])
def test_a_window_shrinks_once_a_round_trip_by_congestion_marks(kind: type[Cubic]) -> None:
    window, nothing = kind(100.0), abi.Report._make([0] * len(abi.Report._fields))
    marked = nothing._replace(delivered=1000, inflight=100, prior_delivered=900, delivered_ce=3)
    window.report(marked)
    assert window.cwnd == pytest.approx(100 * kind.beta)
    window.report(marked._replace(delivered=1050, prior_delivered=950, delivered_ce=5))
    assert window.cwnd == pytest.approx(100 * kind.beta)
    window.report(marked._replace(delivered=1200, prior_delivered=1100, delivered_ce=6))
    assert window.cwnd == pytest.approx(100 * kind.beta**2)


def test_a_rate_below_a_byte_per_second_is_a_rate() -> None:
    """0 is the command of no rate."""
    start = abi.Report._make([0] * len(abi.Report._fields))
    flow = Flow(start, 10.0, 1)
    for pacing_bps, bytes_per_s in ((0, 0), (4, 1), (80, 10)):
        flow.pacing_bps = pacing_bps
        assert abi.COMMAND.unpack(flow.command(0))[2] == bytes_per_s


POLICY = """
import random
print("loading")

class Base:
    def __init__(self, queue_ms: float = 20.0):
        self.drawn = random.Random(queue_ms)

class Random(Base):
    def report(self, flow, report):
        pass
"""


def test_a_policy_may_have_a_modules_name_inherit_its_parameters_and_print(tmp_path: Path) -> None:
    file = tmp_path / "random.py"
    file.write_text(POLICY)
    assert load(file, {"queue_ms": "5"}).parameters == {"queue_ms": 5.0}
    command = [sys.executable, "-m", "ccplane", "check", str(file)]
    checked = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(checked.stdout)["event"] == "ready"
    assert "loading" in checked.stderr


def test_a_class_in_another_encoding_without_report_is_named(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_bytes(b"# -*- coding: latin-1 -*-\n# \xe9\nclass Mine:\n    pass\n")
    with pytest.raises(PolicyError, match="Mine has no `report`") as refused:
        load(file, {})
    assert refused.value.line == 3


@pytest.mark.parametrize(
    ("file", "given", "said"),
    [
        ("copa-policy.py", {"delta": "0"}, "delta is above 0"),
        ("sprout-law.py", {"most_mbps": "0"}, "most_mbps is above 0"),
        ("sprout-law.py", {"confidence": "95"}, "confidence is between 0 and 1"),
        ("constant.py", {"cwnd": "0"}, "cwnd is 1 or more"),
        ("tutorial.py", {"queue_ms": "0"}, "queue_ms is above 0"),
    ],
)
def test_a_value_that_could_only_end_a_policy_is_refused(
    file: str, given: dict[str, str], said: str
) -> None:
    with pytest.raises(PolicyError, match=re.escape(said)):
        load(ROOT / "cc/policies" / file, given)
