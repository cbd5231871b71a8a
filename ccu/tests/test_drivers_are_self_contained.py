# SPDX-License-Identifier: Apache-2.0
"""The name of a testbed occurs in its driver's folder only."""

from __future__ import annotations

import re
from pathlib import Path

import ccu

SOURCE = Path(ccu.__file__).parent
NAMES = re.compile(
    # Virtual time is also a property of runs; as a name of a testbed it is quoted.
    r"\b(emulated|rfsim|usrp|oai|openairinterface|phones?|adb)\b|[\"'`]virtual[\"'`]",
    re.IGNORECASE,
)
LOG_FORMATS = {
    "scenarios/oai_channel_model.py",
    "scenarios/exports/__init__.py",
    "scenarios/exports/oai_schedule.py",
    "scenarios/sources/__init__.py",
    "scenarios/sources/android.py",
    "scenarios/sources/oai.py",
    "spec/gnb_profile.py",
}
"""The files on formats and habits of other programs, which are independent of the testbed."""


def test_no_driver_is_named_outside_its_folder() -> None:
    mentions = []
    for file in sorted(SOURCE.rglob("*.py")):
        name = file.relative_to(SOURCE).as_posix()
        if re.match(r"testbeds/\w+/", name) or name in LOG_FORMATS:
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            # Parts of identifiers count, too: PHONES_OWN, oai_version, OaiOptions.
            words = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", line)
            if NAMES.search(words):
                mentions.append(f"{name}:{number}: {line.strip()}")
    assert mentions == []


def test_drivers_do_not_import_each_other() -> None:
    drivers = {file.parent.name for file in (SOURCE / "testbeds").glob("*/driver.py")}
    assert len(drivers) >= 3
    for driver in drivers:
        for file in (SOURCE / "testbeds" / driver).rglob("*.py"):
            imported = set(re.findall(r"ccu\.testbeds\.(\w+)", file.read_text()))
            assert not imported & (drivers - {driver}), file
