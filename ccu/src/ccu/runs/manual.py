# SPDX-License-Identifier: Apache-2.0
"""A testbed started manually, which stays up between the commands `ccu testbed …`."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from pathlib import Path

from ccu import scenarios
from ccu.host import resources, slots, testbed_logs
from ccu.host.interruption import interruptible
from ccu.host.resources import Resources
from ccu.host.supervisor import Supervisor
from ccu.host.testbed_logs import LogDirectory
from ccu.spec.errors import RunFailed
from ccu.spec.experiment import Experiment
from ccu.testbeds import Driver, ManualTestbed, Site, driver_of, drivers
from ddu.console.problems import refusal


def testbeds() -> dict[str, Driver]:
    """Return the drivers of the testbeds that can be started manually."""
    return {name: driver for name, driver in drivers().items() if driver.manual()}


def up(experiment: Experiment, report: Callable[[str], None]) -> list[str]:
    """Start the testbed and leave it up; return sentences on what that needed.

    Wait for a run that needs the same, and report that. Raises RefusedError or RunFailed; then
    nothing remains but the logs of a failure.
    """
    _refuse_a_second()
    driver, scenario = driver_of(experiment), scenarios.locate(experiment.scenario, experiment.seed)
    driver.check(experiment, scenario)
    with slots.turn(driver.alone, report):
        driver.check_machine(experiment)
        return _start(experiment)


def _start(experiment: Experiment) -> list[str]:
    testbed_logs.remove(testbed_logs.MOST_KEPT)
    owned, logs = _begin()
    site = _site(experiment, owned, logs)
    # Noted until all is removed, as of a run: a closed terminal would leave the containers up.
    with interruptible(site.supervisor.interrupt):
        try:
            logs.make()
            Path(logs.directory, "experiment.json").write_text(experiment.model_dump_json())
            notes = _manual(experiment).up(site)
            site.supervisor.check_interrupt()
            owned.keep()
            return notes
        except BaseException as error:
            if isinstance(error, RunFailed):
                error.directory = site.raw
            owned.remove()
            raise
        finally:
            site.supervisor.stop_all()


def _refuse_a_second() -> None:
    if any(one.of(LogDirectory) for one in resources.readable_records() if not one.abandoned):
        raise refusal(
            "a testbed is up already", "see `ccu testbed status`, end it: ccu testbed down"
        )


def _begin() -> tuple[Resources, LogDirectory]:
    """Register the testbed, unless another `ccu testbed up` has since the first check."""
    with resources.locked(resources.FOLDER):
        _refuse_a_second()
        owned = resources.begin_record(secrets.token_hex(3))
        logs = LogDirectory(str(testbed_logs.FOLDER / owned.run_id))
        owned.register(logs)
    return owned, logs


def status() -> list[tuple[str, str]]:
    """Return the state of each part. Raises RefusedError if nothing is up."""
    site = _kept()
    return [("logs", str(site.raw)), *_manual(site.experiment).status(site)]


def shell_command(part: str) -> list[str]:
    """Return the command that opens a shell in a part of the testbed. Raises RefusedError."""
    site = _kept()
    return _manual(site.experiment).shell_command(site, part)


def down() -> list[str]:
    """Remove every testbed started manually, except its logs; return sentences that say what."""
    done = []
    with resources.locked(resources.FOLDER):
        for owned in resources.kept():
            logs = owned.of(LogDirectory)
            done += owned.remove()
            done += [f"its logs are kept in {one.directory}/raw (ccu clean)" for one in logs]
    return done + resources.unreadable()


def _manual(experiment: Experiment) -> ManualTestbed:
    manual_testbed = driver_of(experiment).manual()
    assert manual_testbed is not None
    return manual_testbed


def _kept() -> Site:
    kept = resources.kept()
    if not kept:
        raise refusal("no testbed is up", "start one: ccu testbed up")
    (logs,) = kept[0].of(LogDirectory)
    content = json.loads(Path(logs.directory, "experiment.json").read_text())
    return _site(Experiment.model_validate(content), kept[0], logs)


def _site(experiment: Experiment, owned: Resources, logs: LogDirectory) -> Site:
    raw = Path(logs.directory, "raw")
    supervisor = Supervisor(owned, raw / "logs")
    return Site(
        experiment, scenarios.locate(experiment.scenario, experiment.seed), raw, supervisor, owned
    )
