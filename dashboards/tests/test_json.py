# SPDX-License-Identifier: Apache-2.0
"""Check that the committed JSON is current, matches Grafana's types, and has no dangling references."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from boards.names import CONGESTION_CONTROLS, STORE
from ddu.report.palette import colour_of
from testsupport.drawn_boards import packages
from testsupport.panel_queries import Board, boards

COMPONENT = Path(__file__).resolve().parents[1]
BUILT_IN = {"__data", "__field", "__value", "__url_time_range"}


def test_the_generated_files_are_current() -> None:
    if sys.version_info < (3, 11):
        pytest.skip("Grafana's SDK needs Python 3.11")
    said = subprocess.run(
        [sys.executable, COMPONENT / "generate", "--check"], capture_output=True, text=True, check=False
    )
    assert said.returncode == 0, said.stdout + said.stderr
    assert "current" in said.stdout


PLACES = ["dashboard", "panel", "options", "custom", "variable", "type", "enum"]


@pytest.fixture(scope="module")
def complaints(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the errors of our dashboards, and of one dashboard per place in PLACES, wrong at that place. All are
    checked at once, because most of the checker's time is spent on Grafana's types."""
    ours = sorted((COMPONENT / "generated").glob("*.json"))
    broken = [tmp_path_factory.mktemp("broken") / f"broken-{place}.json" for place in PLACES]
    for place, file in zip(PLACES, broken, strict=True):
        file.write_text(json.dumps(wrong_at(place)))
    command = ["node", packages() / "check.mjs", *ours, *broken]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.returncode == 1, said.stderr
    assert re.search(rf"^{7 + len(PLACES)} dashboards, [1-9]\d* errors$", said.stdout, re.MULTILINE)
    return said.stdout


def test_grafanas_types_hold(complaints: str) -> None:
    of = re.findall(r"^(\S*):\d+: ", complaints, re.MULTILINE)
    assert of
    assert [name for name in of if not name.startswith("broken-")] == [], complaints


def wrong_at(place: str) -> Any:
    board = json.loads((COMPONENT / "generated" / "live.json").read_text())
    panel = next(panel for panel in board["panels"] if panel["type"] == "timeseries")
    match place:
        case "dashboard":
            board["unheardOf"] = 1
        case "panel":
            panel["unheardOf"] = 1
        case "options":
            panel["options"]["unheardOf"] = 1
        case "custom":
            panel["fieldConfig"]["defaults"]["custom"]["unheardOf"] = 1
        case "variable":
            board["templating"]["list"][0]["unheardOf"] = 1
        case "type":
            panel["title"] = 7
        case "enum":
            panel["fieldConfig"]["defaults"]["custom"]["drawStyle"] = "scribble"
    return board


@pytest.mark.parametrize("place", PLACES)
def test_the_type_check_finds_what_is_wrong(complaints: str, place: str) -> None:
    assert re.search(rf"^broken-{place}\.generated\.ts:", complaints, re.MULTILINE)


def strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for item in value.values() for text in strings(item)]
    if isinstance(value, list):
        return [text for item in value for text in strings(item)]
    return [value] if isinstance(value, str) else []


def sources(value: Any) -> list[dict[str, str]]:
    """Return every reference to a data source, at any depth."""
    if isinstance(value, list):
        return [one for item in value for one in sources(item)]
    if not isinstance(value, dict):
        return []
    own = [value["datasource"]] if isinstance(value.get("datasource"), dict) else []
    return own + [one for item in value.values() for one in sources(item)]


@pytest.mark.parametrize("board", boards(), ids=lambda board: board.name)
def test_everything_resolves(board: Board) -> None:
    provisioned = yaml.safe_load((COMPONENT / "provisioning" / "datasources" / "store.yml").read_text())
    known = {(one["type"], one["uid"]) for one in provisioned["datasources"]}
    assert known == {(STORE["type"], STORE["uid"])}
    named = {(one["type"], one["uid"]) for one in sources(board.json)}
    assert named - {("grafana", "-- Grafana --")} == known
    names = {variable["name"] for variable in board.variables} | BUILT_IN
    uids = {other.json["uid"] for other in boards()}
    for text in strings(board.json):
        assert set(re.findall(r"\$\{(\w+)", text)) <= names, text
        assert set(re.findall(r"/d/([\w-]+)", text)) <= uids, text
        for uid in re.findall(r"/d/([\w-]+)\?var-run", text):
            (target,) = [other for other in boards() if other.json["uid"] == uid]
            assert "run" in {variable["name"] for variable in target.variables}
    assert len({panel["id"] for panel in board.panels}) == len(list(board.panels))


@pytest.mark.parametrize("board", boards(), ids=lambda board: board.name)
def test_every_panel_says_what_it_shows_and_in_which_unit(board: Board) -> None:
    for panel in board.panels:
        about = f"{board.name}: {panel['title']}"
        assert panel["title"], about
        assert len(panel["description"]) > 5, about
        options = panel["options"]
        unit = panel.get("fieldConfig", {}).get("defaults", {}).get("unit") or options.get("yAxis", {}).get("unit")
        assert unit, about
        if unit == "ms" and panel["type"] == "timeseries" and "20, 40, 100 ms" in panel["description"]:
            steps = panel["fieldConfig"]["defaults"]["thresholds"]["steps"]
            assert [step["value"] for step in steps] == [None, 20, 40, 100], about
    assert any(link["tags"] == ["5g-testbed"] for link in board.json["links"])


def test_one_colour_per_congestion_control_everywhere() -> None:
    seen = {}
    for board in boards():
        for panel in board.panels:
            for override in panel.get("fieldConfig", {}).get("overrides", []):
                matcher = override["matcher"]
                colours = [p["value"]["fixedColor"] for p in override["properties"] if p["id"] == "color"]
                for cc in CONGESTION_CONTROLS:
                    if matcher["id"] == "byRegexp" and matcher["options"] == f"/^(.* )?{cc}( .*)?$/":
                        seen.setdefault(cc, set()).update(colours)
    assert seen == {cc: {colour_of(cc)} for cc in CONGESTION_CONTROLS}


def test_the_live_dashboard_is_new_every_second() -> None:
    (live,) = [board for board in boards() if board.name == "live"]
    assert live.json["refresh"] == "1s"
    assert live.json["time"] == {"from": "now-30s", "to": "now"}


def test_nothing_of_a_run_is_put_into_html() -> None:
    # Grafana escapes what cells and legends show; a text panel would be the one place for HTML.
    for board in boards():
        assert {panel["type"] for panel in board.panels}.isdisjoint({"text", "dynamictext", "html"})


def test_compose_accepts_the_file(tmp_path: Path) -> None:
    plugin = COMPONENT.parent / ".tools" / "docker"
    for config in (None, plugin):
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(tmp_path)}
        environment |= {"DOCKER_CONFIG": str(config)} if config else {}
        asked = ["docker", "compose", "version"]
        if (
            shutil.which("docker")
            and not subprocess.run(asked, capture_output=True, env=environment, check=False).returncode
        ):
            break
    else:
        pytest.skip("needs docker compose 2 (setup/docker-compose)")
    file = COMPONENT.parent / "docker-compose.yml"
    said = subprocess.run(
        ["docker", "compose", "-f", file, "--profile", "grafana", "config", "--format", "json"],
        capture_output=True, text=True, check=False,
        env=environment | {"DDU_STORE_DIR": str(tmp_path)},
    )  # fmt: skip
    assert said.returncode == 0, said.stderr
    services = json.loads(said.stdout)["services"]
    assert {"store", "grafana", "files"} <= set(services)
    for service in ("store", "grafana", "files"):
        assert "healthcheck" in services[service]
        assert ":" in services[service]["image"]
        assert not services[service]["image"].endswith(":latest")
        assert {port["host_ip"] for port in services[service]["ports"]} == {"127.0.0.1"}
        environment_of = services[service].get("environment") or {}
        assert not any("PASSWORD" in key and not key.endswith("FILE") for key in environment_of)
    (bound,) = [one for one in services["grafana"]["volumes"] if one["target"] == "/etc/testbed/dashboards"]
    assert {path.stem for path in Path(bound["source"]).glob("*.json")} == {b.name for b in boards()}
