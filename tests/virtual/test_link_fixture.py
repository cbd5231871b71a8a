# SPDX-License-Identifier: Apache-2.0
"""The fixture `link` (docs/ci.md) with programs that fail, or that transfer little."""

from __future__ import annotations

from pathlib import Path

import pytest

from ccu.testing import session
from ddu.console.problems import RefusedError

pytest_plugins = ["pytester"]
WAITS = ["sh", "-c", "echo waits >&2; sleep 1000"]


def run(
    folder: Path, client: str, server: list[str] | None = None, duration: str = "30s"
) -> session.Session:
    keys = {"prb": 24, "duration": duration}
    return session.run(folder / "run", ["sh", "-c", client], server, "dl", folder, keys)


def test_a_client_that_fails_fails_the_test_with_what_it_printed(
    kernel: Path, tmp_path: Path
) -> None:
    with pytest.raises(session.ProgramFailed) as failed:
        run(tmp_path, "echo result; echo reason >&2; exit 3", WAITS)
    said = str(failed.value)
    assert "the client ended with code 3" in said
    assert {"result", "reason"} <= set(said.splitlines())


def test_a_congestion_control_that_the_kernel_lacks_is_refused(
    kernel: Path, tmp_path: Path
) -> None:
    with pytest.raises(RefusedError, match=r"^cc: the kernel .* has no copa\. Ch"):
        session.run(tmp_path / "run", ["true"], None, "dl", tmp_path, {"cc": "copa"})


def test_a_server_that_fails_before_the_client_ends_fails_the_test(
    kernel: Path, tmp_path: Path
) -> None:
    with pytest.raises(session.ProgramFailed, match="the server ended with code 4") as failed:
        run(tmp_path, "sleep 2", ["sh", "-c", "echo reason >&2; exit 4"])
    assert "reason" in str(failed.value)


@pytest.mark.parametrize("server", [WAITS, ["sh", "-c", "trap 'exit 5' TERM; sleep 1000 & wait"]])
def test_a_server_that_is_ended_after_the_client_has_not_failed(
    kernel: Path, tmp_path: Path, server: list[str]
) -> None:
    assert run(tmp_path, "echo result", server).output == "result\n"


def test_only_numbers_need_a_transfer(kernel: Path, tmp_path: Path) -> None:
    ran = run(tmp_path, "echo result")
    assert ran.output == "result\n"
    with pytest.raises(RefusedError, match=r"server\.pcap: a capture without IP packets"):
        _ = ran.summary


def test_a_client_that_does_not_end_hears_of_the_duration(kernel: Path, tmp_path: Path) -> None:
    with pytest.raises(session.ProgramFailed) as failed:
        run(tmp_path, "sleep 100", duration="2s")
    said = str(failed.value)
    assert "after 2 s of virtual time, not finished: program client" in said
    assert "longer duration" in said


def test_a_budget_without_a_transfer_fails_without_a_traceback(
    kernel: Path, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(
        "from ccu.testing import over_5g\n\n"
        "@over_5g(max_rtt_p95_ms=60)\ndef test_it(link): link(['true'])\n"
    )
    options = ("-p", "no:over5g", "-p", "ccu.testing.plugin", "-p", "no:cacheprovider")
    ran = pytester.runpytest(*options)
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(["*a capture without IP packets*"])
    ran.stdout.no_fnmatch_line("*Traceback*")
    ran.stdout.no_fnmatch_line("*import_folder*")
