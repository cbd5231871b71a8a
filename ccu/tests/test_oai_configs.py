# SPDX-License-Identifier: Apache-2.0
"""OpenAirInterface's configurations: valid by the standards, and with known fields only."""

from __future__ import annotations

import os
import re
import sqlite3
import struct
from pathlib import Path
from typing import get_args

import pytest
import yaml

from ccu.scenarios.resolve import resolve
from ccu.testbeds.oai import (
    configs,
    lxc_runtime,
    mac_pcap,
    plans,
    preflight,
    real_time,
    services,
    usrp,
    version,
)
from ccu.testbeds.oai.carrier import WIDTHS_PRB, carrier
from ccu.testbeds.oai.configs import Plan
from ddu.console.problems import RefusedError

VERSIONS = ("2023.w16", "2024.w14", "2024.w15", "2024.w45", "2026.w04", "2026.w11", "develop")
PLANS = [
    Plan(tag, carrier(prb), ue_count, radio)
    for tag in VERSIONS
    for prb in WIDTHS_PRB
    for ue_count, radio in (
        (1, None),
        (3, None),
        (1, usrp.Usrp("b210", "serial=30AD123", "serial=30AD124")),
    )
] + [Plan(VERSIONS[-1], carrier(24), gnb_antennas=2, ue_antennas=2)]
FIELDS_FILE = Path(__file__).with_name("oai_gnb_fields.txt")


def known_fields(section: str) -> set[str]:
    text = FIELDS_FILE.read_text().partition(f"[{section}]\n")[2]
    return set(text.partition("[")[0].split())


def fields(text: str) -> list[str]:
    bare = re.sub(r'"[^"\n]*"', '""', re.sub(r"#.*", "", text))
    return re.findall(r"([A-Za-z_]\w*)\s*[=:](?!=)", bare)


def values(text: str) -> dict[str, str]:
    return dict(re.findall(r"(\w+)\s*=\s*([^;\s]+)\s*;", re.sub(r"#.*", "", text)))


@pytest.mark.parametrize("plan", PLANS, ids=lambda p: f"{p.version}-{p.carrier.prb}-{p.radio}")
def test_a_gnb_file_has_only_known_fields_of_its_version(plan: Plan) -> None:
    text = configs.rendered(plan)["gnb.conf"]
    known = known_fields("in every version")
    if plan.usrp is None:
        known |= known_fields("channel model")
    if plan.gnb_antennas > 1:
        known |= known_fields("two antennas")
    if plan.version < "2024.w15":
        known |= known_fields("before 2024.w15")
    assert set(fields(text)) <= known
    assert text.count("{") == text.count("}")
    assert text.count("(") == text.count(")")
    # A list where the version reads a list, a group where it reads a group.
    if plan.usrp is None:
        wanted = r"rfsimulator = \(\{" if plan.options.rfsim_list else r"rfsimulator : \{"
        assert re.search(wanted, text)


@pytest.mark.parametrize("prb", WIDTHS_PRB)
def test_a_carrier_obeys_the_rasters_and_holds_ssb_and_coreset(prb: int) -> None:
    gnb = values(configs.rendered(Plan("2026.w11", carrier(prb)))["gnb.conf"])

    def mhz(arfcn: str) -> float:
        return 3000 + 0.015 * (int(arfcn) - 600_000)

    point_a, ssb = (
        mhz(gnb["dl_absoluteFrequencyPointA"]),
        mhz(gnb["absoluteFrequencySSB"]),
    )
    assert (ssb - 3000) / 1.44 == pytest.approx(round((ssb - 3000) / 1.44), abs=1e-6)
    ssb_first_prb = (ssb - point_a) / 0.36 - 10
    assert ssb_first_prb == pytest.approx(round(ssb_first_prb), abs=1e-6)
    # TS 38.213 table 13-4: PRBs of CORESET 0 and how far below the SSB it begins.
    width, below = {"2": (24, 2), "11": (48, 14)}[gnb["initialDLBWPcontrolResourceSetZero"]]
    first = round(ssb_first_prb) - below
    assert first >= 0
    assert first + width <= prb
    assert point_a >= 3300
    assert point_a + 0.36 * prb <= 3800
    # TS 38.214 clause 5.1.2.2.2, solved for length and start.
    riv = int(gnb["initialDLBWPlocationAndBandwidth"])
    length, start = riv // 275 + 1, riv % 275
    if length + start > 275:
        length, start = 275 - length + 2, 274 - start
    assert (length, start) == (prb, 0)


@pytest.mark.parametrize(
    ("prb", "ssb", "point_a", "riv", "centre_hz"),
    [
        (106, 621312, 620040, 28875, 3_319_680_000),
        (24, 640320, 640032, 6325, 3_604_800_000),
    ],
)
def test_the_carriers_are_those_of_openairinterface(
    prb: int, ssb: int, point_a: int, riv: int, centre_hz: int
) -> None:
    made = carrier(prb)
    assert (made.ssb_arfcn, made.point_a_arfcn, made.location_and_bandwidth, made.centre_hz) == (
        ssb,
        point_a,
        riv,
        centre_hz,
    )


def test_options_follow_the_version() -> None:
    old, new = (Plan(tag, carrier(106)) for tag in ("2023.w16", "2026.w11"))
    assert "--sa " in configs.gnb_options(old)
    assert "--sa " not in configs.gnb_options(new)
    assert "--rfsimulator.serveraddr 192.168.71.140" in configs.ue_options(old, 1)
    assert "--rfsimulator.[0].serveraddr 192.168.71.140" in configs.ue_options(new, 1)
    assert "-C 3319680000" in configs.ue_options(new, 1)
    assert "-E" not in configs.ue_options(Plan("2026.w11", carrier(24)), 1).split()
    # The telnet server has no password.
    for plan in (old, new):
        for text in (configs.gnb_options(plan), configs.ue_options(plan, 1)):
            assert re.search(r"--telnetsrv.listenaddr 192\.168\.71\.1\d\d", text)


@pytest.mark.parametrize(
    "chosen", [{}, {"testbed": "usrp", "usrp": "b210", "lockstep": False}, {"core": "none"}]
)
def test_the_gnb_writes_its_blocks_where_they_are_asked_for(chosen: dict[str, object]) -> None:
    flags = {"testbed": "rfsim", "cc": "cubic", **chosen}
    without, asked = (plans.plan_of(resolve(flags | more)) for more in ({}, {"mac_pcap": True}))
    options = configs.gnb_options(asked)
    assert " --opt.type pcap --opt.path /tmp/mac.pcap " in options
    assert "--opt" not in configs.gnb_options(without)
    assert configs.ue_options(asked, 1) == configs.ue_options(without, 1)


def test_the_blocks_are_kept_up_to_the_last_whole_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written, kept = tmp_path / "tmp.pcap", tmp_path / "mac.pcap"
    monkeypatch.setattr(mac_pcap, "_FILE", str(written).lstrip("/"))
    header = struct.pack("=IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 228)
    blocks = [struct.pack("=IIII", 1, 2, size, size) + bytes(size) for size in (700, 3, 90)]
    whole = header + b"".join(blocks)
    for more in (b"", blocks[0][:7], blocks[0][:-1]):
        written.write_bytes(whole + more)
        assert mac_pcap.collect(os.getpid(), kept) == []
        assert kept.read_bytes() == whole
    for nothing in (b"", header, header + blocks[0][:-1]):
        written.write_bytes(nothing)
        (said,) = mac_pcap.collect(os.getpid(), kept)
        assert said == "the gNB has written no transport blocks (--mac-pcap)"
        assert not kept.exists()
    written.unlink()
    assert mac_pcap.collect(os.getpid(), kept) == mac_pcap.collect(None, kept) == [said]
    assert not kept.exists()


# The first tag with each change, by OpenAirInterface's history.
BOUNDARIES = [
    ("names_file", "2024.w39", True, "2024.w40", False),
    ("needs_real_time", "2024.w21", True, "2024.w22", False),
    ("legacy_amf", "2024.w14", True, "2024.w15", False),
    ("sa_flag", "2024.w44", True, "2024.w45", False),
    ("gnb_telnet", "2024.w49", "ci", "2024.w50", "ci,o1"),
    ("channel_per_ue", "2025.w08", False, "2025.w09", True),
    ("rfsim_list", "2026.w04", False, "2026.w05", True),
    ("without_core", "2023.w32", False, "2023.w33", True),
]


@pytest.mark.parametrize(("name", "before", "old", "since", "new"), BOUNDARIES)
def test_an_option_changes_at_its_week(
    name: str, before: str, old: object, since: str, new: object
) -> None:
    assert getattr(version.options(before), name) == old
    assert getattr(version.options(since), name) == new


@pytest.mark.parametrize("tag", VERSIONS)
def test_the_image_finds_its_configuration(tag: str) -> None:
    """The entrypoints end with 255 unless the file is there; they add -O from 2024.w40 on."""
    plan = Plan(tag, carrier(24))
    for name, file in (("gnb", "oai-gnb/etc/gnb.conf"), ("ue1", "oai-nr-ue/etc/nr-ue.conf")):
        service = services.services(plan, {})[name]
        assert [target for _, target in service.mounts] == [f"/opt/{file}"]
        assert len(service.command) == 1
    added = configs.gnb_options(plan).count("-O /opt/oai-gnb/etc/gnb.conf ")
    assert added == (tag < "2024.w40")


def test_a_ue_has_the_list_to_which_its_options_apply() -> None:
    assert "rfsimulator = ({" in configs.rendered(Plan("2026.w05", carrier(24)))["ue1.conf"]
    assert "rfsimulator" not in configs.rendered(Plan("2026.w04", carrier(24)))["ue1.conf"].split()


def test_msg2_fits_the_random_access_window() -> None:
    # TS 38.331, RACH-ConfigGeneric: the index of 20 slots; Msg2 comes after 11.
    slots = (1, 2, 4, 8, 10, 20, 40, 80)
    text = configs.rendered(Plan("2026.w11", carrier(24)))["gnb.conf"]
    assert slots[int(values(text)["ra_ResponseWindow"])] > 11


@pytest.mark.parametrize("granted", [True, False])
def test_modems_ask_for_priority_only_where_it_is_given(granted: bool) -> None:
    plan = Plan("2026.w11", carrier(24), 2, real_time=granted)
    by_name = services.services(plan, {})
    for name in ("gnb", "ue1", "ue2"):
        assert ("SYS_NICE" in by_name[name].capabilities) is granted
    assert "SYS_NICE" not in by_name["amf"].capabilities


def test_without_a_core_gnb_and_ue_are_alone() -> None:
    plan = Plan("2026.w11", carrier(24), core="none")
    by_name = services.services(plan, {"OAI_CONFIG": "/config"})
    assert set(by_name) == {"gnb", "ue1"}
    assert "NET_ADMIN" in by_name["gnb"].capabilities
    assert by_name["gnb"].devices == ("/dev/net/tun",)
    mounted = dict(by_name["ue1"].mounts)
    for file in ("reconfig.raw", "rbconfig.raw"):
        assert mounted[f"/config/{file}"] == f"/opt/oai-nr-ue/etc/{file}"
        option = f"--{file.removesuffix('.raw')}-file /opt/oai-nr-ue/etc/{file}"
        assert option in configs.ue_options(plan, 1)
    assert "--noS1 --do-ra" in configs.gnb_options(plan)


@pytest.mark.parametrize(
    ("antennas", "gnb", "ue", "layers"),
    [("1x1", 1, 1, None), ("1x2", 1, 2, None), ("2x1", 2, 1, "1"), ("2x2", 2, 2, "2")],
)
def test_antennas_and_layers_are_those_of_the_experiment(
    antennas: str, gnb: int, ue: int, layers: str | None
) -> None:
    asked = {"testbed": "rfsim", "lockstep": True, "cc": "cubic", "direction": "dl", "prb": 24}
    plan = plans.plan_of(resolve(asked | {"scenario": "rome-moderate", "antennas": antennas}))
    written = values(configs.rendered(plan)["gnb.conf"])
    assert (written["nb_tx"], written["nb_rx"]) == (str(gnb), str(gnb))
    assert written.get("maxMIMO_layers") == layers
    ports = [written.get(name) for name in ("pdsch_AntennaPorts_XP", "pusch_AntennaPorts")]
    assert ports == [None if gnb == 1 else str(gnb)] * 2
    of_ue = f" --ue-nb-ant-rx {ue} --ue-nb-ant-tx {ue} "
    assert (of_ue in configs.ue_options(plan, 1)) is (ue > 1)


def test_without_a_core_rlc_has_the_short_numbers_with_which_it_loses_nothing() -> None:
    written = {
        core: configs.rendered(Plan("2026.w11", carrier(24), core=core))["gnb.conf"]
        for core in get_args(configs.Core)
    }
    short = [core for core, text in written.items() if 'sn_field_length = "size6"' in text]
    assert short == ["none"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"core": "none", "ues": 2}, "has one UE"),
        ({"core": "none", "capture_n3": True}, "no N3 to capture"),
        ({"core": "none", "oai_version": "2023.w32"}, r"before 2023\.w33"),
        (
            {"ues": 2, "oai_version": "2025.w08", "scenario": "rome-moderate"},
            r"one uplink channel before 2025\.w09",
        ),
    ],
)
def test_what_a_version_or_core_cannot_do_is_refused(given: dict[str, object], words: str) -> None:
    experiment = resolve({"cc": "cubic", "testbed": "rfsim", "duration_s": 3.0, **given})
    with pytest.raises(RefusedError, match=words):
        plans.check(experiment)


def test_ues_with_the_same_channel_may_share_one() -> None:
    given = {"ues": 2, "oai_version": "2025.w08", "scenario": "static", "duration_s": 2.0}
    plans.check(resolve({"cc": "cubic", "testbed": "rfsim", **given}))


def test_a_version_that_needs_real_time_priority_is_refused_without_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(real_time, "available", lambda: False)
    preflight.check_host(Plan("2024.w22", carrier(24)))
    with pytest.raises(RefusedError, match=r"2024\.w21 needs real-time priority"):
        preflight.check_host(Plan("2024.w21", carrier(24)))


def test_the_cpu_controller_is_found_in_either_version_of_cgroups() -> None:
    new = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n"
    old = "cgroup /sys/fs/cgroup/cpu cgroup rw,relatime,cpu 0 0\n"
    sets = "cgroup /sys/fs/cgroup/cpuset cgroup rw,relatime,cpuset 0 0\n"
    assert real_time._hierarchy(new) == Path("/sys/fs/cgroup")
    assert real_time._hierarchy(sets + new + old) == Path("/sys/fs/cgroup/cpu")
    assert real_time._hierarchy("proc /proc proc rw 0 0\n") is None


@pytest.mark.parametrize(
    ("tag", "words"),
    [
        ("2023.w15", "older than"),
        ("2024.w54", "no week"),
        ("a b", "not an image tag"),
        ("", "not an image"),
    ],
)
def test_an_invalid_version_is_refused(tag: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        version.options(tag)


def test_every_ue_has_its_sim_in_the_database(tmp_path: Path) -> None:
    files = configs.rendered(Plan("2026.w11", carrier(106), 5))
    # SQLite does not read MySQL's enum, unsigned and 0x…; it checks everything else.
    sql = re.sub(r"enum\([^)]*\)", "text", files["subscribers.sql"]).replace("unsigned", "")
    sql = re.sub(r"0x([0-9a-f]+)", r"x'\1'", sql)
    with sqlite3.connect(":memory:") as database:
        database.executescript(sql)
        known = dict(database.execute("SELECT imsi, lower(hex(`key`)) FROM users").fetchall())
        subscribed = dict(
            database.execute("SELECT ueid, encPermanentKey FROM AuthenticationSubscription")
        )
        ambr = database.execute("SELECT min(ue_ambr_dl), min(ue_ambr_ul) FROM users").fetchone()
    for number in range(1, 6):
        sim = dict(re.findall(r'(\w+) = "(\w+)"', files[f"ue{number}.conf"]))
        assert known[sim["imsi"]] == subscribed[sim["imsi"]] == sim["key"]
    assert len(known) == 5
    core = yaml.safe_load(files["core.yaml"])
    (session,) = core["smf"]["local_subscription_infos"]
    # AMBR must not limit a transport study: 273 PRB carry at most 1.5 Gbit/s here.
    assert min(ambr) >= 5e9
    assert session["qos_profile"]["session_ambr_dl"] == "10000Mbps"


def test_unsupported_carriers_of_a_radio_are_refused() -> None:
    b210, x310 = usrp.parse("b210"), usrp.parse("x310:addr=192.168.40.2+addr=192.168.50.2")
    usrp.check_carrier(b210, carrier(106))
    usrp.check_carrier(x310, carrier(162))
    with pytest.raises(RefusedError, match=r"58\.3 MHz wide, and a B210 does 56 MHz"):
        usrp.check_carrier(b210, carrier(162))
    with pytest.raises(RefusedError, match=r"122\.88 MS/s, which an X310"):
        usrp.check_carrier(x310, carrier(273))
    with pytest.raises(RefusedError, match="24, 51, 106, 162, 273"):
        carrier(52)
    two = usrp.parse("b210:serial=A+serial=B")
    assert (
        'sdr_addrs = "serial=A"'
        in configs.rendered(Plan("2026.w11", carrier(106), 1, two))["gnb.conf"]
    )
    assert "--usrp-args serial=B" in configs.ue_options(Plan("2026.w11", carrier(106), 1, two), 1)
    for text in ("b200", "b210:", "x310", "x310:serial=1", 'b210:serial="1"', "b210:serial=A"):
        with pytest.raises(ValueError, match=r"Write|letters"):
            usrp.parse(text)


def test_more_ues_than_the_gnb_takes_are_refused() -> None:
    experiment = resolve({"cc": "cubic", "testbed": "rfsim", "prb": 24, "ues": configs.MOST_UES})
    assert plans.plan_of(experiment).ue_count == configs.MOST_UES
    with pytest.raises(RefusedError, match="17: OpenAirInterface's gNB takes 1 to 16"):
        plans.plan_of(experiment.model_copy(update={"ues": configs.MOST_UES + 1}))


def test_both_cores_know_the_same_sims_session_and_addresses() -> None:
    oai, open5gs = (
        configs.rendered(Plan("2026.w11", carrier(24), 2, core=core)) for core in ("oai", "open5gs")
    )
    assert {*oai} - {*open5gs} == {"core.yaml", "subscribers.sql"}
    for sim in configs.sims(2):
        for text in (oai["subscribers.sql"], open5gs["subscribers.js"]):
            assert sim.imsi in text
            assert sim.key in text
            assert sim.opc in text
    assert "10000Mbps" in oai["core.yaml"]
    assert open5gs["subscribers.js"].count("{value: 10000, unit: 2}") == 2
    core = yaml.safe_load(open5gs["open5gs.yaml"])
    assert core["amf"]["ngap"]["server"] == [{"address": configs.AMF_ADDRESS}]
    (session,) = core["smf"]["session"]
    assert (session["subnet"], session["dnn"]) == (configs.UE_POOL, configs.DNN)
    assert core["upf"]["session"] == [session | {"dev": "ogstun"}]
    for function in services.core_of(Plan("2026.w11", carrier(24), core="open5gs"))[1:]:
        assert function.removeprefix("open5gs-") in core


def test_open5gs_is_for_rfsim_in_docker() -> None:
    asked = {"cc": "cubic", "testbed": "rfsim", "core": "open5gs", "runtime": "lxc"}
    with pytest.raises(RefusedError, match="rfsim in Docker only"):
        plans.check(resolve(asked))


def test_lxc_allows_a_device_and_every_one_of_a_folder_s_kinds() -> None:
    assert lxc_runtime._numbers(Path("/dev/null")) == {"1:3"}
    assert {"1:*", "5:*"} <= lxc_runtime._numbers(Path("/dev"))


def test_the_committed_defaults_match_the_templates() -> None:
    plans = [Plan(version.DEFAULT, carrier(106), core=core) for core in configs.CORES]
    made = {name: text for plan in plans for name, text in configs.rendered(plan).items()}
    files = {file.name: file.read_text() for file in (configs.CONTAINERS / "defaults").iterdir()}
    assert files == made, "write them again: python -m ccu.testbeds.oai.defaults"


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"loss": "1%"}, "loss: with OpenAirInterface it cannot be set"),
        ({"buffer": "10pkt"}, "buffer: with OpenAirInterface it cannot be set"),
        ({"path": {"dl": {"rate_mbps": 5}}}, "path: with OpenAirInterface it cannot be set"),
        ({"mac_interval": "5ms"}, "mac-interval: with OpenAirInterface it cannot be set"),
        ({"scenario": "cellular-4g"}, "path: with OpenAirInterface it cannot be set"),
        ({"dl_delay": "3ms"}, "whole delay is at the server"),
    ],
)
def test_what_would_have_no_effect_is_refused(asked: dict[str, object], problem: str) -> None:
    with pytest.raises(RefusedError, match=problem):
        resolve({"testbed": "rfsim", "cc": "cubic", **asked})


def test_in_lockstep_each_direction_has_a_delay() -> None:
    asked = {"testbed": "rfsim", "lockstep": True, "cc": "cubic", "dl_delay": "3ms"}
    assert resolve(asked).dl_delay_ms == 3
