# SPDX-License-Identifier: Apache-2.0
"""The account that nr-link gives of what did not finish in virtual time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ccu.testbeds.virtual_time.limit import unfinished


@pytest.mark.parametrize(
    ("account", "said"),
    [
        (
            {"unfinished": {"limit_s": 20.0, "flows": ["f0"], "programs": ["client"]}},
            "after 20 s of virtual time, not finished: flow f0, program client. Wait",
        ),
        ({"flows": []}, None),
        (None, None),
    ],
)
def test_the_sentence_has_what_the_account_has(
    tmp_path: Path, account: dict[str, Any] | None, said: str | None
) -> None:
    if account is not None:
        (tmp_path / "virtual.json").write_text(json.dumps(account))
    assert unfinished(tmp_path, "Wait") == said
