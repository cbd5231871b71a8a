# SPDX-License-Identifier: Apache-2.0
"""The package `over5g`, before anything runs."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import over5g
from ccu.host import interruption
from ddu.console.problems import RefusedError
from over5g import runs


def test_it_is_imported_quickly_and_says_its_version() -> None:
    script = "import over5g, sys; print(over5g.__version__, 'pandas' in sys.modules, dir(over5g))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    version, pandas, names = ran.stdout.split(maxsplit=2)
    assert version.count(".") == 2
    assert pandas == "False"
    assert "'run'" in names


@pytest.mark.parametrize(
    ("keys", "said"),
    [({"prb": 107}, "prb"), ({"prbs": 106}, "prbs"), ({"cc": "cubik"}, "Did you mean cubic")],
)
def test_a_wrong_key_or_value_is_refused_before_anything_is_made(
    tmp_path: Path, keys: dict[str, object], said: str
) -> None:
    with pytest.raises(RefusedError, match=said):
        over5g.run(output=tmp_path / "runs", testbed="virtual", **keys)
    assert not (tmp_path / "runs").exists()


def test_flows_and_traffic_name_their_own_congestion_controls() -> None:
    assert runs._with_cc(None, {"prb": 24}) == {"cc": "cubic", "prb": 24}
    for keys in ({"flows": ["cubic@0", "bbr@10"]}, {"traffic": "quic:bbr"}):
        assert runs._with_cc(None, keys) == keys
        assert runs._with_cc("bbr", keys) == {"cc": "bbr", **keys}


def test_in_another_thread_a_run_notes_no_signal() -> None:
    noted: list[str] = []

    def work() -> bool:
        with interruption.interruptible(noted.append):
            return True

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(work).result()


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"duration": 5}, "duration: 5 is not a quantity with a unit"),
        ({"rtt": "-1ms"}, "rtt: '-1ms' is less than 0"),
        ({"carriers": 17}, "carriers: 17 is not between 1 and 16"),
        ({"duration": 5, "prb": None}, "duration: 5 is not a quantity with a unit"),
    ],
)
def test_a_problem_names_the_argument_and_not_a_flag(
    tmp_path: Path, keys: dict[str, object], said: str
) -> None:
    with pytest.raises(RefusedError) as refused:
        over5g.run(output=tmp_path / "runs", testbed="virtual", **keys)
    assert str(refused.value).startswith(said)
