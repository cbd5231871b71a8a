# SPDX-License-Identifier: Apache-2.0
"""Whatever a file that one writes or gets is made of: it is read, or refused, and never more.

DDU_FUZZ_EXAMPLES=100000 makes a long run of it (`make fuzz`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from ccu.campaigns import definition
from ccu.spec.yaml_places import read_mapping
from ddu.campaign.load import read_definition
from ddu.console.problems import RefusedError
from ddu.installation import CHECKOUT
from ddu.run.manifest import read_manifest
from testsupport.changed_inputs import EXAMPLES, changed

assert CHECKOUT is not None
_RUNS = [*CHECKOUT.glob("tests/golden_runs/*/run.json")]
_RECORDS = [*CHECKOUT.glob("ddu/tests/data/upgrade/campaign-*.json")]
_CAMPAIGNS = [*CHECKOUT.glob("campaigns/*.yaml")][:12]

READERS: dict[str, tuple[Callable[[Path], Any], str, list[Path]]] = {
    "run": (lambda file: read_manifest(file.parent), "run.json", _RUNS),
    "record": (lambda file: read_definition(file.parent), "campaign.json", _RECORDS),
    "campaign": (definition.read, "campaign.yaml", _CAMPAIGNS),
    "mapping": (read_mapping, "experiment.yaml", _CAMPAIGNS),
}


@pytest.mark.parametrize("name", READERS)
def test_a_changed_file_is_read_or_refused(tmp_path: Path, name: str) -> None:
    read, called, seeds = READERS[name]

    @settings(
        max_examples=EXAMPLES, deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )  # fmt: skip
    @given(changed([file.read_bytes() for file in seeds]))
    def attempt(content: bytes) -> None:
        file = tmp_path / called
        file.write_bytes(content)
        with suppress(RefusedError):
            read(file)

    attempt()
