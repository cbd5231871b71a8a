# SPDX-License-Identifier: Apache-2.0
"""The radio of an experiment: nr-link's keys, short forms and presets, and who is stronger."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from ccu.campaigns import definition
from ccu.campaigns.cells import cells
from ccu.cli.run import resolved
from ccu.runs.run import check
from ccu.scenarios import link_config, locate, radios
from ccu.scenarios.resolve import collect, resolve, resolve_written
from ccu.spec.places import written_at
from ddu.console.problems import RefusedError

STATIC = {"cc": "cubic", "scenario": "static", "testbed": "virtual"}


def radio_of(flags: dict[str, Any], file: Path | None = None) -> dict[str, Any]:
    """Return the radio that nr-link gets."""
    config = link_config.link_config(resolve({**STATIC, **flags}, file), "core", "ue")
    radio: dict[str, Any] = config["radio"]
    return radio


def refusal_of(flags: dict[str, Any], file: Path | None = None) -> str:
    """Return what `ccu run` says of an experiment that nr-link refuses."""
    try:
        written, places = collect({**STATIC, **flags}, file)
        with written_at(places):
            check(resolve_written(written, places), Path(), machine=False)
    except RefusedError as error:
        return str(error)
    raise AssertionError(f"{flags} is accepted")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "e.yaml"


def test_without_a_radio_nothing_changes() -> None:
    experiment = resolve(STATIC)
    assert "radio" not in experiment.model_dump(mode="json")
    assert list(radio_of({})) == [
        *("carrier_ghz", "numerology", "prb", "duplex", "layers", "mcs_table", "link_adaptation")
    ]


def test_short_forms_set_the_keys_of_nr_link() -> None:
    flags = {"prb": 273, "layers": "4/1", "scheduler": "max_ci", "rlc": "um", "carriers": "8"}
    radio = radio_of({**flags, "duplex": "DDDSU", "mcs_table": "256qam"})
    assert radio["prb"] == 273
    assert radio["layers"] == {"dl": 4, "ul": 1}
    assert radio["scheduler"] == "max_ci"
    assert radio["rlc"] == {"mode": "um"}
    assert radio["secondary"] == [{"count": 7}]
    assert radio["duplex"]["tdd"]["pattern"] == "DDDSU"
    assert radio["mcs_table"] == "256qam"
    assert radio_of({"carriers": 1})["secondary"] == []


def test_every_key_of_nr_link_can_be_given(
    file: Path, schema: jsonschema.Draft202012Validator
) -> None:
    file.write_text(
        "radio:\n  prb: 51\n  rank: fixed\n  layers: {dl: 2, ul: 1}\n  layer_isolation_db: 25\n"
        "  link_adaptation: {fixed_mcs: 9}\n  csi: {period_slots: 4, delay_slots: 2}\n"
        "  uplink: {pcmax_dbm: 26}\n"
    )
    radio = radio_of({}, file)
    assert {key: radio[key] for key in yaml.safe_load(file.read_text())["radio"]} == (
        yaml.safe_load(file.read_text())["radio"]
    )
    schema.validate(yaml.safe_load(file.read_text()))
    check(resolve(STATIC, file), Path(), machine=False)


@pytest.mark.parametrize(
    "radio",
    [{"rnak": "fixed"}, {"csi": {"perod_slots": 4}}, {"scheduler": "fifo"}, {"rlc": {"mode": "tm"}},
     {"secondary": [{"cuont": 2}]}, {"link_adaptation": {"fixed_mcs": "nine"}}, {"prb": "wide"}, 5],
)  # fmt: skip
def test_the_schema_has_the_keys_of_nr_link(
    radio: object, schema: jsonschema.Draft202012Validator
) -> None:
    with pytest.raises(jsonschema.ValidationError):
        schema.validate({"radio": radio})


def test_a_resolved_experiment_is_read_again(
    file: Path, schema: jsonschema.Draft202012Validator
) -> None:
    experiment = resolve({**STATIC, "radio": "n258-8x100MHz", "rlc": "um"})
    file.write_text(resolved(experiment, locate("static")))
    schema.validate(yaml.safe_load(file.read_text()))
    assert resolve({}, file) == experiment
    assert type(experiment).from_record(experiment.record()) == experiment


def test_flags_win_over_the_file_and_keys_over_their_preset(file: Path) -> None:
    file.write_text("radio: n78-100MHz-4x4\nlayers: 2\n")
    assert radio_of({}, file)["layers"] == {"dl": 2, "ul": 2}
    radio = radio_of({"layers": 3, "prb": 106}, file)
    assert (radio["layers"]["dl"], radio["prb"], radio["mcs_table"]) == (3, 106, "256qam")
    file.write_text("radio: {prb: 106, layers: {dl: 2, ul: 2}, rank: fixed}\n")
    radio = radio_of({"radio": "n28-10MHz"}, file)
    assert (radio["prb"], radio["layers"]["ul"], radio["rank"]) == (52, 1, "fixed")


def test_the_radio_wins_over_the_scenarios_carrier() -> None:
    radio = radio_of({"scenario": "urban-mmwave", "radio": {"prb": 66}})
    assert (radio["prb"], radio["carrier_ghz"], radio["mcs_table"]) == (66, 28, "256qam")


@pytest.mark.parametrize(
    ("written", "line", "key", "rule"),
    [
        ("radio:\n  numerology: 0\n  prb: 273\n", 3, "radio.prb", "273 PRB is not a channel"),
        ("radio:\n  layers: {dl: 1, ul: 8}\n", 2, "radio.layers.ul", "8 layers are not 1, 2, 3"),
        ("rlc: am\nradio:\n  secondary: [{count: 16}]\n", 3, "radio.secondary.count", "16 is not"),
        ("radio:\n  csi: {perod_slots: 4}\n", 2, "radio.csi.perod_slots", "unknown key"),
        ("rtt: 9ms\nradio:\n  rank: fixed\n  rnak: fixed\n", 4, "radio.rnak", "unknown key"),
        ("radio:\n  scheduler: fifo\n", 2, "radio.scheduler", "unknown value"),
        ("scheduler: fifo\n", 1, "scheduler", "unknown value"),
        ("layers: many\n", 1, "layers", "'many' is not a number of layers"),
        ("carriers: 0\n", 1, "carriers", "'?0'? is not a number of carriers"),
        ("radio: 5\n", 1, "radio", "is 5"),
        ("prb: 24\nradio:\n  prb: 51\n", 3, "radio.prb", "is given as prb too"),
        ("radio:\n  secondary: []\ncarriers: 2\n", 2, "radio.secondary", "is given as carriers"),
        ("radio: n78-100Mhz-4x4\n", 1, "radio", "no radio .*Did you mean n78-100MHz-4x4"),
    ],
)
def test_a_mistake_is_reported_at_its_place(
    written: str, line: int, key: str, rule: str, file: Path
) -> None:
    file.write_text(written)
    text = refusal_of({}, file)
    assert re.match(rf"{file}:{line}: {key}: {rule}", text), text


@pytest.mark.parametrize(
    ("flags", "flag", "rule"),
    [
        ({"prb": 273, "numerology": 0}, "--prb", "is not a channel bandwidth at 15 kHz"),
        ({"layers": "1/8"}, "--layers", "8 layers are not"),
        ({"carriers": "17"}, "--carriers", "at most 16 component carriers"),
        ({"rlc": "tm"}, "--rlc", "am, um"),
        ({"radio": "./none.yaml"}, "--radio", "no such file"),
    ],
)
def test_a_mistake_in_a_flag_names_the_flag(flags: dict[str, Any], flag: str, rule: str) -> None:
    text = refusal_of(flags)
    assert text.startswith(f"{flag}: "), text
    assert rule in text


@pytest.mark.parametrize("testbed", ["rfsim", "phone"])
def test_a_testbed_that_cannot_set_the_radio_refuses_each_key(testbed: str, file: Path) -> None:
    file.write_text("radio:\n  layers: {dl: 2, ul: 2}\n  rank: fixed\n")
    with pytest.raises(RefusedError) as caught:
        resolve({"cc": "cubic", "testbed": testbed}, file)
    text = str(caught.value)
    assert f"{file}:2: radio.layers: " in text
    assert f"{file}:3: radio.rank: " in text
    with pytest.raises(RefusedError, match=r"^--layers: .*Leave it out with"):
        resolve({"cc": "cubic", "testbed": testbed, "layers": "4"})


@pytest.mark.parametrize("name", list(radios.library()))
def test_every_preset_is_a_radio_of_nr_link(name: str) -> None:
    values, places = radios.read("radio", name)
    assert places.keys() >= values.keys() >= {"prb", "carrier_ghz", "numerology", "duplex"}
    check(resolve({**STATIC, "radio": name}), Path(), machine=False)


def test_a_radio_of_the_users_own_is_a_file(tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("summary: mine\nradio:\n  prb: 51\n  layers:\n    dl: 9\n    ul: 1\n")
    assert radio_of({"radio": str(mine), "layers": 1})["prb"] == 51
    mine.write_text("summary: mine\nradios: {prb: 51}\n")
    assert refusal_of({"radio": str(mine)}).startswith(f"{mine}:2: radios: unknown key. Did you")
    mine.write_text("summary: mine\n")
    assert f"{mine}: radio: is not a mapping" in refusal_of({"radio": str(mine)})
    mine.write_text("radio: {mcs_table: 1024qam}\n")
    assert refusal_of({"radio": str(mine)}).startswith(f"{mine}:1: radio.mcs_table: ")


def test_a_setting_of_drx_is_two_keys_and_off_removes_both(file: Path) -> None:
    radio = radio_of({"drx": "nsa-low-band"})
    assert (radio["drx"]["long_cycle_ms"], radio["rrc"]["idle"]["after_s"]) == (320, 10.2)
    # A setting replaces another one as a whole; what stands beside its name is stronger.
    file.write_text("drx: nsa-low-band\n")
    assert "rrc" not in radio_of({"drx": "interactive"}, file)
    file.write_text("radio: {drx: sa-low-band, rrc: {idle: {after_s: 3, setup_ms: 90}}}\n")
    assert radio_of({}, file)["rrc"] == {"idle": {"after_s": 3, "setup_ms": 90}}
    file.write_text("drx: off\n")
    assert not {"drx", "rrc"} & radio_of({}, file).keys()


def test_a_scenario_may_name_a_setting_of_drx(file: Path) -> None:
    scenario = {"scenario": "idle-phone"}
    assert radio_of(scenario)["drx"]["long_cycle_ms"] == 320
    assert radio_of({**scenario, "drx": "interactive"})["drx"]["long_cycle_ms"] == 160
    assert "drx" not in radio_of({**scenario, "drx": "off"})
    experiment = resolve({**STATIC, **scenario})
    file.write_text(resolved(experiment, locate("idle-phone")))
    assert resolve({}, file) == experiment


def test_a_cycle_that_the_standard_does_not_have_is_refused_with_its_line(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(
        "summary: x\nsources: [x]\nradio:\n  drx:\n    on_duration_ms: 10\n    inactivity_ms: 20\n"
        "    long_cycle_ms: 300\n"
    )
    message = refusal_of({"drx": str(own)})
    assert message.startswith(
        f"{own}:7: radio.drx.long_cycle_ms: 300 is not a value of drx-LongCycle"
    )
    own.write_text("summary: x\nsources: [x]\nradio: {prb: 24}\n")
    assert refusal_of({"drx": str(own)}).startswith(f"{own}:3: radio.prb: unknown key")
    assert refusal_of({"drx": "nsa"}).startswith("--drx: no drx 'nsa'. Did you mean nsa-low-band?")


@pytest.mark.parametrize("name", list(radios.library("drx")))
def test_every_setting_of_drx_is_one_of_nr_link(name: str) -> None:
    check(resolve({**STATIC, "drx": name}), Path(), machine=False)


def test_campaigns_vary_presets_short_forms_and_keys(tmp_path: Path) -> None:
    file = tmp_path / "sweep.yaml"
    file.write_text(
        "title: radios\nbase: {cc: cubic, scenario: static, testbed: virtual, rlc: um}\n"
        "factors:\n  radio: [n78-40MHz, n28-10MHz]\n  layers: [1, 2]\n"
        "  csi:\n    often: {radio: {csi: {period_slots: 4}}}\n"
        "    seldom: {radio.csi: {period_slots: 80}}\n"
    )
    planned = cells(definition.read(file))
    combinations = {
        (one.experiment.prb, one.experiment.radio["layers"]["dl"],
         one.experiment.radio["csi"]["period_slots"], one.experiment.radio["rlc"]["mode"])
        for one in planned
    }  # fmt: skip
    assert combinations == set(itertools.product((52, 106), (1, 2), (4, 80), ("um",)))
    file.write_text(
        "title: radios\nbase: {cc: cubic, scenario: static, testbed: virtual}\n"
        "factors:\n  a:\n    x:\n      radio:\n        prb: 7\n"
    )
    (cell,) = cells(definition.read(file))
    with (
        pytest.raises(RefusedError, match=rf"^{file}:7: .*prb: 7 PRB is not"),
        cell.located(),
    ):
        check(cell.experiment, tmp_path, machine=False)
