# SPDX-License-Identifier: Apache-2.0
"""Options are declared once: flags, YAML, schema, documentation and old runs agree."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from pydantic import BaseModel
from typer.testing import CliRunner

from ccu.campaigns import definition
from ccu.cli.main import COMMANDS, app
from ccu.cli.run import resolved
from ccu.host import programs
from ccu.runs.manifest import experiment_of
from ccu.scenarios import locate
from ccu.scenarios.resolve import resolve
from ccu.spec.experiment import Experiment
from ccu.spec.option import written
from ccu.spec.reference import in_step
from ccu.spec.testbed import every_options
from ddu.console.problems import RefusedError
from ddu.installation import CHECKOUT
from testsupport.prepared import command

MODELS: list[type[BaseModel]] = [Experiment, *every_options()]
BEFORE = Path(__file__).parent / "data" / "runs-before-drivers"


def test_every_field_is_an_option() -> None:
    for model in MODELS:
        assert {one.name for one in written(model)} == set(model.model_fields) - {"name"}


def test_a_default_is_shown_as_it_is_written() -> None:
    for model in MODELS:
        for one in written(model):
            value = one.field.get_default(call_default_factory=True)
            if (
                one.option.read is None
                or value is None
                or one.field.is_required()
                or not one.default
            ):
                continue
            read: Any = one.option.read(one.default)
            assert (type(value)(**read) if isinstance(value, BaseModel) else read) == value, one


def test_the_documentation_matches_the_options() -> None:
    page = CHECKOUT / "docs" / "experiment.md"
    text = page.read_text()
    assert in_step(text) == text, f"write it again: python -m ccu.spec.reference {page}"


@pytest.mark.parametrize(
    "flags",
    [
        {"cc": "reminis", "cc_params": {"dtt": "60ms"}, "loss": 0.01, "buffer": "2.5MB"},
        {"flows": "cubic@0,reno@10", "direction": "ul", "path": {"dl": {"rate_mbps": 20}}},
        {"cc": "cubic", "duplex": "fdd", "dl_delay": "3ms", "traffic": "tcp:1GB", "ues": 3},
        {"cc": "cubic", "testbed": "rfsim", "runtime": "lxc", "capture_n3": True},
        {"cc": "cubic", "testbed": "phone", "max_bytes": "300MB", "adb": False, "place": "Roof"},
    ],
)
def test_the_schema_accepts_written_and_resolved_experiments(
    flags: dict[str, Any], schema: jsonschema.Draft202012Validator
) -> None:
    schema.validate(flags)
    experiment = resolve(flags)
    schema.validate(yaml.safe_load(resolved(experiment, locate(experiment.scenario))))


def test_the_schema_accepts_every_shipped_campaign(
    schema: jsonschema.Draft202012Validator,
) -> None:
    for name in definition.library():
        schema.validate(definition.read(definition.locate(name)).base)


@pytest.mark.parametrize(
    "content",
    [{"prb": "wide"}, {"prbs": 24}, {"testbed": "emulatd"}, {"aqm": "RED 5"}, {"duration": 30},
     {"oai": {"versio": "2025.w20"}}, {"ues": 65}, {"phone_load": "curl"}],
)  # fmt: skip
def test_the_schema_refuses_what_ccu_refuses(
    content: dict[str, Any], schema: jsonschema.Draft202012Validator, tmp_path: Path
) -> None:
    with pytest.raises(jsonschema.ValidationError):
        schema.validate(content)
    file = tmp_path / "e.yaml"
    file.write_text(yaml.safe_dump({"cc": "cubic", "testbed": "rfsim"} | content))
    with pytest.raises(RefusedError):
        resolve({}, file)


@pytest.mark.parametrize("testbed", ["emulated", "rfsim", "usrp", "phone"])
def test_a_run_from_before_the_drivers_can_be_repeated(testbed: str) -> None:
    """Its run.json has a key for the options of each driver, null except its own."""
    before = json.loads((BEFORE / testbed / "run.json").read_text())["experiment"]
    assert before["traffic"].pop("rate_bps") is None  # It belongs to another kind.
    experiment = experiment_of(BEFORE / testbed)
    assert experiment.testbed.name == testbed
    record = experiment.record()
    if "oai" in record:
        # Options that are newer than the run have their defaults.
        assert record["oai"].pop("core") == "oai"
        assert record["oai"].pop("lockstep") is False
        assert record["oai"].pop("channel") is None
        assert record["oai"].pop("uplink_target_db") is None
        assert record["oai"].pop("antennas") == "1x1"
    assert record.pop("snaplen_bytes") == 128
    assert record.pop("start_jitter_ms") == 0
    assert record.pop("socket_buffer") == (None if testbed == "phone" else 64 << 20)
    assert record.pop("gro") == (True if testbed == "emulated" else None)
    assert record.pop("gnb_profile") == ("ideal" if testbed == "emulated" else None)
    without_effect = experiment.testbed.unsupported & record.keys()
    assert all(record.pop(key) is None for key in without_effect)
    assert record == {key: before[key] for key in record}
    assert all(before[key] is None for key in before.keys() - record.keys() - without_effect)


def test_an_empty_value_is_not_the_default() -> None:
    ended = command("ccu", "run", "--cc", "cubic", "--duration", "", "--dry-run")
    assert ended.returncode == 2
    assert "--duration" in ended.stderr


def test_an_option_of_the_wrong_testbed_names_the_right_one(tmp_path: Path) -> None:
    with pytest.raises(
        RefusedError, match=r"^--runtime: is for other .*--testbed rfsim or usrp, or"
    ):
        resolve({"cc": "cubic", "runtime": "lxc"})
    file = tmp_path / "e.yaml"
    file.write_text("cc: cubic\ntestbed: phone\noai: {runtime: lxc}\n")
    with pytest.raises(RefusedError, match=rf"^{file}:3: oai: is for other testbeds"):
        resolve({}, file)
    file.write_text("cc: cubic\ntestbed: rfsim\noai: {versio: lxc}\n")
    with pytest.raises(
        RefusedError, match=rf"^{file}:3: oai.versio: unknown key. Did you mean version"
    ):
        resolve({}, file)


def test_the_list_of_commands_has_each_commands_summary() -> None:
    for name, line in COMMANDS.items():
        printed = CliRunner().invoke(app, [name, "--help"])
        assert printed.exit_code == 0, name
        assert line.partition(" (")[0] in " ".join(printed.stdout.split()), name


def test_help_imports_no_driver_and_no_model() -> None:
    """`ccu --help` answers at once."""
    code = "import sys; from ccu.cli.main import app; print([m for m in sys.modules])"
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert not {"pydantic", "yaml", "pyroute2", "ccu.testbeds"} & set(eval(printed.stdout))


def test_campaigns_begin_without_pandas() -> None:
    """It is most of what a command would import that starts runs in other processes."""
    code = "import sys; import ccu.cli.campaign, ccu.cli.worker; print([m for m in sys.modules])"
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert not {"pandas", "numpy", "pyarrow"} & set(eval(printed.stdout))


def test_planning_a_field_campaign_executes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The programs of runs and of phones are neither needed nor executed."""
    hidden = {"adb", "ssh", "iperf3", "tcpdump", "socket-sampler", "nr-link"}
    find = programs.find
    monkeypatch.setattr(programs, "find", lambda name: None if name in hidden else find(name))
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("a socket connects"))
    ran = CliRunner().invoke(
        app, ["campaign", "plan", "infield", "--output", str(tmp_path / "runs")]
    )
    assert ran.exception is None, ran.exception
    assert "phone" in ran.output
    assert "over the operator's network" in ran.output
    assert list(tmp_path.iterdir()) == []


def test_help_has_the_options_of_the_chosen_testbed_alone() -> None:
    def shown(*args: str) -> str:
        return CliRunner().invoke(app, ["run", *args]).stdout

    assert "--traffic-program" in shown("-h")
    assert "--serial" not in shown("--help")
    of_phone = shown("--testbed", "phone", "--help")
    assert "--serial" in of_phone
    assert not {"--traffic-program", "--runtime"} & {*of_phone.split()}
    every = shown("--help-all")
    assert all(flag in every for flag in ("--traffic-program", "--serial", "--runtime"))
    assert shown("-h").index("ccu run --cc") < shown("-h").index("--flows")


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("ccu run --sc", {"--scenario", "--scheduler"}),
        ("ccu run --testbed rf", {"rfsim"}),
        ("ccu campaign re", {"report", "resume"}),
    ],
)
def test_a_shell_completes_flags_and_names(words: str, offered: set[str]) -> None:
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    asked["_CCU_COMPLETE"] = "complete_bash"
    printed = CliRunner().invoke(app, [], prog_name="ccu", env=asked)
    assert {*printed.stdout.split()} == offered
