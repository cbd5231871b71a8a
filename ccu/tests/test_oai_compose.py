# SPDX-License-Identifier: Apache-2.0
"""The reader of containers/oai.yml, compared with a real Compose."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ccu.testbeds.oai import configs, docker, services, usrp
from ccu.testbeds.oai.carrier import carrier
from ccu.testbeds.oai.configs import Plan
from ddu.console.problems import RefusedError
from ddu.installation import CHECKOUT

X310 = usrp.Usrp("x310", "addr=192.168.40.2", "addr=192.168.50.2")
PLANS = [
    Plan(tag, carrier(prb), ues, radio)
    for tag in ("2023.w16", "2026.w11")
    for prb, ues, radio in (
        (24, 1, None),
        (106, 3, None),
        (273, 1, None),
        (106, 1, usrp.Usrp("b210", "")),
        (162, 1, X310),
    )
]
PLANS.append(Plan("2026.w11", carrier(24), 2, core="open5gs"))


def compose(files: list[Path], profile: str, variables: dict[str, str]) -> dict[str, Any]:
    """Return the output of `docker compose config`."""
    try:
        command = docker.command()
    except RefusedError as missing:
        pytest.skip(str(missing))
    named = [word for file in files for word in ("-f", str(file))]
    printed = subprocess.run(
        [*command, "compose", *named, "--profile", profile, "config", "--format", "json"],
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": str(Path.home()), **variables},
    )
    assert printed.returncode == 0, printed.stderr
    project: dict[str, Any] = json.loads(printed.stdout)
    return project


@pytest.mark.parametrize("plan", PLANS, ids=lambda p: f"{p.version}-{p.carrier.prb}-{p.profile}")
def test_compose_accepts_every_profile_and_reads_it_as_ccu(plan: Plan, tmp_path: Path) -> None:
    variables = configs.write(plan, tmp_path / "config") | {"CCU_RUN": "abc"}
    files = services.write_additions(plan, tmp_path)
    theirs = compose(files, plan.profile, variables)["services"]
    ours = services.services(plan, variables)
    assert {*theirs} == {*ours}
    for name, mine in ours.items():
        one = theirs[name]
        assert one["image"] == mine.image
        assert one["labels"] == {"ccu.run": "abc"}
        assert tuple(one.get("command") or ()) == mine.command
        assert (one.get("environment") or {}) == mine.environment
        assert tuple(one.get("cap_add", ())) == mine.capabilities
        assert not one.get("privileged", False)
        assert tuple(it["source"] for it in one.get("devices", ())) == mine.devices
        assert tuple((it["source"], it["target"]) for it in one.get("volumes", ())) == mine.mounts
        assert all(Path(source).is_file() for source, _ in mine.mounts)
        assert mine.host_network == (one.get("network_mode") == "host")
        joined = {} if mine.host_network else one["networks"]
        assert {net: it["ipv4_address"] for net, it in joined.items()} == mine.addresses
    taken = [
        it["ipv4_address"] for one in theirs.values() for it in one.get("networks", {}).values()
    ]
    assert len(taken) == len(set(taken))
    for number in range(1, plan.ue_count + 1):
        ue = theirs[plan.ue_service(number)]
        assert ue["environment"]["USE_ADDITIONAL_OPTIONS"] == configs.ue_options(plan, number)
        assert ue["volumes"][0]["source"].endswith(f"/ue{number}.conf")
        assert plan.version in ue["image"]


@pytest.mark.parametrize("profile", ["rfsim", "rfsim-open5gs", "usrp-b210", "usrp-x310"])
def test_the_top_file_works_without_ccu(profile: str) -> None:
    project = compose([CHECKOUT / "docker-compose.yml"], profile, {})
    for one in project["services"].values():
        for mount in one.get("volumes", ()):
            assert Path(mount["source"]).is_file()
    gnb = next(one for name, one in project["services"].items() if name.startswith("gnb"))
    ue = next(one for name, one in project["services"].items() if name.startswith("ue1"))
    radio = (
        None
        if profile.startswith("rfsim")
        else usrp.Usrp(profile.removeprefix("usrp-"), "addr=x", "addr=x")
    )
    plan = Plan("2026.w11", carrier(106), 1, radio)
    # The defaults in the file are those of ccu (except the order of words and the USRP).
    for text, wanted in (
        (gnb["environment"]["USE_ADDITIONAL_OPTIONS"], configs.gnb_options(plan)),
        (ue["environment"]["USE_ADDITIONAL_OPTIONS"], configs.ue_options(plan, 1)),
    ):
        assert set(text.split()) == set(wanted.split()) - {"--usrp-args", "addr=x"}
