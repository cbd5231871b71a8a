# SPDX-License-Identifier: Apache-2.0
"""Campaign files and their runs: the product, its order, and refused designs."""

from __future__ import annotations

from pathlib import Path

import pytest

from ccu.campaigns import definition
from ccu.campaigns.cells import Cell, cells
from ddu.console.problems import RefusedError

FILE = """\
title: A try
base: {duration: 1s, scenario: static}
factors:
  cc: [cubic, reno]
  prb: [24, 106]
  size:
    small: {buffer: 100pkt}
    large: {buffer: 3200pkt}
exclude:
  - {prb: 106, size: small}
profiles:
  quick: {repeats: 2}
  full: {base: {duration: 100s}, repeats: 10, factors: {cc: [cubic]}}
"""


def read(tmp_path: Path, text: str = FILE, profile: str | None = None) -> definition.Campaign:
    file = tmp_path / "try.yaml"
    file.write_text(text)
    return definition.read(file, profile)


def test_the_product_has_the_expected_cells(tmp_path: Path) -> None:
    planned = cells(read(tmp_path))
    # (2 congestion controls by 2 widths by 2 sizes, less the 2 excluded) by 2 repeats
    assert len(planned) == 12
    assert len({cell.slug for cell in planned}) == 12
    assert not [
        cell
        for cell in planned
        if cell.experiment.prb == 106 and cell.experiment.buffer.packets == 100
    ]


def test_factors_add_their_parameters(tmp_path: Path) -> None:
    text = """title: x
base: {scenario: static}
factors:
  reading: {ours: {cc: reminis}, wide: {cc: reminis, cc_params: {dtt: 40ms, nde: mean}}}
  block: {"all": {cc_params: {}}, "off": {cc_params: {nde: "off"}}}
"""
    settings = {
        tuple(label for _, label in cell.point): dict(cell.experiment.cc_params)
        for cell in cells(read(tmp_path, text))
    }
    assert settings == {
        ("ours", "all"): {},
        ("ours", "off"): {"nde": "off"},
        ("wide", "all"): {"dtt": "40ms", "nde": "mean"},
        ("wide", "off"): {"dtt": "40ms", "nde": "off"},
    }


def test_a_profile_changes_only_the_keys_that_it_names(tmp_path: Path) -> None:
    planned = cells(read(tmp_path, profile="full"))
    assert len(planned) == 30
    assert {cell.experiment.cc for cell in planned} == {"cubic"}
    assert {cell.experiment.duration_s for cell in planned} == {100.0}
    assert {cell.experiment.scenario for cell in planned} == {"static"}


def test_repeats_are_blocks_with_a_seed_each_in_a_reproducible_order(tmp_path: Path) -> None:
    campaign = read(tmp_path)
    first, again = cells(campaign), cells(campaign)
    assert [cell.slug for cell in first] == [cell.slug for cell in again]
    assert [cell.experiment.seed for cell in first] == [1] * 6 + [2] * 6
    blocks = [[cell.point for cell in first if cell.repeat == repeat] for repeat in (0, 1)]
    assert sorted(blocks[0]) == sorted(blocks[1])
    other = cells(campaign.model_copy(update={"order_seed": 2}))
    assert [cell.slug for cell in other] != [cell.slug for cell in first]


def test_a_long_or_odd_label_becomes_a_directory_name(tmp_path: Path) -> None:
    long = "a/b " * 80
    text = f"title: x\nfactors:\n  cc: {{'{long}': {{cc: cubic}}, 'a\\b': {{cc: reno}}}}\n"
    for cell in cells(read(tmp_path, text)):
        assert "/" not in cell.slug
        assert len(cell.slug) < 255


MISTAKES = {
    "title: x\nfactors: {}\n": r"try.yaml:2: factors: has no factor. Name at least one",
    "title: x\nfactors: {cc: []}\n": r"try.yaml:2: factors.cc: has no levels",
    "title: x\nfactors: {cc: [cubic, cubic]}\n": r"the same level twice",
    "title: x\nfactors: {cc: [cubic]}\nrepeat: 3\n": r"try.yaml:3: repeat: unknown key. Did",
    "factors: {cc: [cubic]}\n": r"try.yaml: title: is missing",
    "title: x\nfactors: {cc: [cubic]}\nexclude: [{pbr: 24}]\n": r"no factor 'pbr'. There are cc",
    "title: x\nfactors: {cc: [cubic]}\nexclude: [{cc: reno}]\n": r":3: exclude.*: no level 'reno'",
    "title: x\nfactors: {cc: [cubic]}\nprofiles: 3\n": r"try.yaml:3: profiles: is 3. Write a mapp",
    "title: x\nfactors: {cc: [cubic]}\nprofiles: {quick: 3}\n": r"try.yaml:3: profiles.quick: is 3",
    "title: x\nfactors: {cc: [cubic]}\nprofiles: {../x: {}}\n": r"try.yaml:3: profiles: '../x' is",
    "title: x\nfactors: {cc: [cubic]}\nbase: 3\n": r"try.yaml:3: base: is not a mapping",
    "title: x\nfactors: {cc: [cubic]}\nrepeats: 0\n": r"try.yaml:3: repeats",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_wrong_file_is_refused_with_its_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(RefusedError, match=MISTAKES[text]):
        read(tmp_path, text)


def test_the_name_of_a_profile_may_be_a_number(tmp_path: Path) -> None:
    text = "title: x\nfactors: {cc: [cubic]}\nprofiles: {10: {repeats: 2}, quick: {}}\n"
    assert read(tmp_path, text, "10").repeats == 2
    with pytest.raises(RefusedError, match="no profile 'quik'"):
        read(tmp_path, text, "quik")


def test_an_impossible_experiment_is_named_by_its_level(tmp_path: Path) -> None:
    text = "title: x\nfactors: {cc: [cubic], rtt: [20ms, -3ms, 20]}\n"
    with pytest.raises(
        RefusedError, match=r"(?s)factors.rtt.-3ms.*factors.rtt.20.rtt: .*not a quantity"
    ):
        cells(read(tmp_path, text))


def test_a_design_without_points_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="nothing is left to run"):
        cells(read(tmp_path, "title: x\nfactors: {cc: [cubic]}\nexclude: [{cc: cubic}]\n"))


def test_the_projects_campaigns_have_a_quick_and_a_full_profile_that_resolve() -> None:
    there = sorted(definition.LIBRARY.glob("*.yaml"))
    assert there
    for file in there:
        quick, full = (cells(definition.read(file, profile)) for profile in ("quick", "full"))
        assert _hours(quick) < 1, f"{file.name}: quick takes {_hours(quick):.1f} h"
        assert _hours(full) > _hours(quick)


def test_the_library_tells_which_campaigns_have_a_profile() -> None:
    third = definition.library("paper-third")
    assert "urban-mmwave" in third
    assert "hercules-h2" not in third
    assert third.items() < definition.library().items()


def _hours(planned: list[Cell]) -> float:
    return sum(cell.of_point.duration_s for cell in planned) / 3600


@pytest.mark.parametrize("wrong", ["base: [cc]", "factors: cc"])
def test_what_is_no_mapping_is_refused_whatever_the_profile_sets(
    tmp_path: Path, wrong: str
) -> None:
    key = wrong.partition(":")[0]
    text = f"title: x\n{wrong}\nprofiles: {{quick: {{{key}: {{prb: [24]}}}}}}\n"
    with pytest.raises(RefusedError, match=rf"try.yaml:\d: {key}"):
        read(tmp_path, text, "quick")
