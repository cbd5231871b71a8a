# SPDX-License-Identifier: Apache-2.0
"""An experiment: one validated value, whatever it was resolved from."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import combinations, groupby
from typing import Any, Literal, NamedTuple

from pydantic import (
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)

from ccu.spec import radio as radios
from ccu.spec import traffic as kinds
from ccu.spec.changes import Change
from ccu.spec.fields import CC, DROP_TAIL, HEADERS_BYTES, ExperimentFields
from ccu.spec.flow_plan import FlowPlan
from ccu.spec.option import written
from ccu.spec.path import Buffer
from ccu.spec.testbed import default, drivers, every_options, options_of
from ccu.spec.traffic import TrafficOptions
from ddu.console.problems import InvalidValue, Problem, Where, invalid
from ddu.console.validation import invalid_values, word

SCHEMA_VERSION = 1
"""The schema version of run.json."""

Direction = Literal["dl", "ul"]
"""Towards the UE, or from it."""

_ABSENT_IF_EMPTY = (radios.RADIO, "changes", "explain", "mac_pcap")
"""Keys that run.json has only if they hold something."""


class Experiment(ExperimentFields):
    """Everything that determines a run; run.json carries it as it is."""

    def starts_s(self, plan: FlowPlan, number: int) -> float:
        """Return when flow `number` starts, after the start of the traffic.

        Without jitter, runs in which nothing else is random are the same for every seed.
        """
        draw = random.Random(f"{self.seed} start of flow {number}").random()
        return round(plan.start_s + draw * self.start_jitter_ms / 1e3, 6)

    @model_validator(mode="before")
    @classmethod
    def _gather_the_testbeds_options(cls, given: Any) -> Any:
        """Take the options of the testbed from the key that run.json has them under."""
        if not isinstance(given, dict):
            return given
        given = dict(given)
        testbed = given.get("testbed", default())
        for options in every_options():
            inside = given.pop(options.section, None) if options.section else None
            if isinstance(testbed, str) and options is options_of(testbed):
                given["testbed"] = {**(inside or {}), "name": testbed}
            elif inside is not None:
                raise invalid(f"the testbed {testbed} has no such options", key=options.section)
        return given

    @model_serializer(mode="wrap")
    def _write_what_the_testbed_has(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Put the testbed's options beside its name, and leave out what it cannot set."""
        content: dict[str, Any] = {}
        for key, value in write(self).items():
            if key == "testbed":
                content[key] = value.pop("name")
                if self.testbed.section:
                    content[self.testbed.section] = value
            elif key not in self.testbed.unsupported and (key not in _ABSENT_IF_EMPTY or value):
                content[key] = value
        return content

    @model_validator(mode="after")
    def _flows_fit(self) -> Experiment:
        for plan in self.flows:
            lasts_s = self.duration_s - plan.start_s
            if lasts_s <= 0:
                raise invalid(
                    f"{plan} starts when the run of {self.duration_s:g} s is over",
                    "start it earlier or run longer",
                    key="flows",
                )
            if abs(lasts_s - round(lasts_s)) > 1e-9:
                raise invalid(
                    f"{plan} would last {lasts_s:g} s, and flows last whole seconds",
                    "change its start or the duration",
                    key="flows",
                )
        return self

    @model_validator(mode="after")
    def _testbed_carries_it(self) -> Experiment:
        testbed = self.testbed
        asked = testbed.unsupported & self.model_fields_set - {radios.RADIO}
        if radios.RADIO in testbed.unsupported:
            asked |= {f"{radios.RADIO}.{key}" for key in self.radio}
        if asked:
            fix = f"leave it out with --testbed {testbed.name}"
            raise InvalidValue(
                *(Problem(testbed.unsupported_reason, fix, Where(key=key)) for key in sorted(asked))
            )
        wrong = {plan.cc for plan in self.flows} - {testbed.foreign_ccs.get(self.direction)}
        if self.direction in testbed.foreign_ccs and wrong:
            raise invalid(
                f"{', '.join(sorted(wrong))}: the sender is not a host of this testbed",
                f"leave it out, or write {testbed.foreign_ccs[self.direction]}",
                key="flows",
            )
        testbed.refuse(self)
        return self

    @model_validator(mode="after")
    def _a_name_has_one_source(self) -> Experiment:
        for plan in self.flows:
            files = (self.cc_files.get(plan.cc), self.traffic_files.get(plan.cc))
            if (plan.cc_file, self.traffic_of(plan).file) != files:
                raise invalid(
                    f"flows have different congestion controls with the name {plan.cc}",
                    "rename a file",
                    key="flows",
                )
        return self

    @model_validator(mode="after")
    def _flows_say_once_what_they_send(self) -> Experiment:
        own = next((plan.traffic for plan in self.flows if plan.traffic is not None), None)
        if own is not None and self.traffic != kinds.default():
            raise invalid(f"{own} makes its own traffic", "leave out the traffic", key="traffic")
        return self

    @model_validator(mode="after")
    def _flows_have_their_ue(self) -> Experiment:
        for plan in self.flows:
            if plan.ue is not None and plan.ue > self.ues:
                raise invalid(
                    f"{plan} is for UE {plan.ue} of {self.ues}",
                    "give more --ues, or name another",
                    key="flows",
                )
        return self

    @model_validator(mode="after")
    def _something_manages_the_queue(self) -> Experiment:
        managers = {self.aqm, *(str(one.value) for one in self.changes if one.key == "aqm")}
        if self.ecn and managers == {DROP_TAIL}:
            raise invalid(
                "a drop-tail queue marks nothing",
                "add --aqm (`ccu list aqm`), or leave it out",
                key="ecn",
            )
        return self

    @model_validator(mode="after")
    def _delay_is_part_of_the_round_trip(self) -> Experiment:
        if self.dl_delay_ms is not None and self.dl_delay_ms > self.rtt_ms:
            raise invalid(
                f"dl_delay is {self.dl_delay_ms:g} ms of {self.rtt_ms:g} ms",
                "lower the one or raise the other",
                key="rtt_ms",
            )
        return self

    @model_validator(mode="after")
    def _changes_can_be_made(self) -> Experiment:
        if self.changes and not self.testbed.changes:
            able = [name for name, one in drivers().items() if one.options.changes]
            rule = f"the testbed {self.testbed.name} changes nothing during a run"
            raise invalid(rule, f"choose --testbed {' or '.join(able)}", key="changes")
        for change in self.changes:
            if change.at_s >= self.duration_s:
                rule = f"{change}: the run is over after {self.duration_s:g} s"
                raise invalid(rule, "change it earlier or run longer", key="changes")
        for one, other in combinations(self.changes, 2):
            if (one.at_s, one.key) == (other.at_s, other.key):
                rule = f"{one} and {other}: {one.key} gets two values at one instant"
                raise invalid(rule, "keep one of them", key="changes")
        _ = self.stages
        return self

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The experiment as it begins, and as it is from each instant with changes on.

        Raises InvalidValue for a change that cannot be.
        """
        stages = [Stage(0.0, self.model_copy(update={"changes": ()}))]
        for at_s, changes in groupby(self.changes, lambda one: one.at_s):
            stages.append(Stage(at_s, stages[-1].experiment._changed(list(changes))))
        return tuple(stages)

    def _changed(self, changes: Sequence[Change]) -> Experiment:
        """Return the experiment with the values of changes at one instant."""
        content, which = self.model_dump(mode="json"), ""
        # Whether ECN has a queue that marks is a question to all stages together.
        ecn = {"ecn": True} if self.ecn else {}
        try:
            for change in changes:
                which = str(change)
                content |= self._changed_fields(change, content)
            which = ", ".join(map(str, changes))
            changed = content | dict.fromkeys(ecn, False)
            return Experiment.from_record(changed).model_copy(update=ecn)
        except InvalidValue as error:
            problems = error.problems
        except ValidationError as error:
            problems = tuple(invalid_values(error, Experiment, Experiment.model_fields))
        raise InvalidValue(
            *(Problem(f"{which}: {one.rule}", one.fix, Where(key="changes")) for one in problems)
        ) from None

    def _changed_fields(self, change: Change, content: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields that the change gives another value."""
        if change.key == CC.key:
            if any(self.traffic_of(plan).own_ccs is not None for plan in self.flows):
                raise invalid("the traffic is not TCP of the hosts' kernels", "leave it out")
            # The source that a run has kept is under another name.
            new = change.value if isinstance(change.value, Mapping) else {"cc": str(change.value)}
            if ":" in new["cc"]:
                rule = f"{change.value} is not a congestion control of the hosts' kernels"
                raise invalid(rule, "name one of `ccu list cc`")
            bare = ({k: v for k, v in one.items() if k != "cc_file"} for one in content["flows"])
            return {"flows": [{**flow, **new} for flow in bare]}
        if change.parameter:
            return {"cc_params": {**content["cc_params"], change.parameter: word(change.value)}}
        for one in written(Experiment):
            if one.key == change.key and one.option.changes and not one.option.pairs:
                return {
                    one.name: one.option.read(change.value) if one.option.read else change.value
                }
        raise invalid(f"{change.key} cannot change during a run", f"choose one of: {_CHANGING}")

    def delay_ms(self, direction: Direction) -> float:
        """One-way delay of the path beside the radio."""
        dl_ms = self.rtt_ms / 2 if self.dl_delay_ms is None else self.dl_delay_ms
        # Rounded to 1 fs, so that 260 - 130.1 is 129.9 and not 129.89999999999998.
        return dl_ms if direction == "dl" else round(self.rtt_ms - dl_ms, 12)

    def buffer_of(self, direction: Direction) -> Buffer:
        """The limit of a direction's RLC queue."""
        return self.ul_buffer if direction == "ul" and self.ul_buffer else self.buffer

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The directions of the traffic."""
        return ("dl", "ul") if self.direction == "bidir" else (self.direction,)

    @property
    def cc(self) -> str:
        """The congestion controls in one word, each named once, for names and tables."""
        return "+".join(dict.fromkeys(plan.cc for plan in self.flows))

    @property
    def servers_ccs(self) -> tuple[str, ...]:
        """The congestion controls that this machine's kernel has to have, each once."""
        if self.direction in self.testbed.foreign_ccs:
            return ()
        of_kernel = (
            plan.cc
            for stage in self.stages
            for plan in stage.experiment.flows
            if self.traffic_of(plan).own_ccs is None
        )
        return tuple(dict.fromkeys(of_kernel))

    def traffic_of(self, plan: FlowPlan) -> TrafficOptions:
        """Return what a flow sends."""
        return plan.traffic or self.traffic

    @property
    def traffic_files(self) -> dict[str, str]:
        """The files of the user's that make traffic, as they were written, by name."""
        of_flows = ((plan.cc, self.traffic_of(plan).file) for plan in self.flows)
        return {name: file for name, file in of_flows if file is not None}

    @property
    def cc_files(self) -> dict[str, str]:
        """The files that congestion controls are made of, as they were written, by name."""
        plans = (plan for stage in self.stages for plan in stage.experiment.flows)
        return {plan.cc: plan.cc_file for plan in plans if plan.cc_file is not None}

    def at(self, seconds: float) -> Experiment:
        """Return the experiment as it is at an instant of the traffic."""
        return [one.experiment for one in self.stages if one.at_s <= seconds][-1]

    def key_of_cc(self, name: str) -> str:
        """Return the key that gives flows a congestion control: `cc`, or that of a change."""
        return CC.key if any(plan.cc == name for plan in self.flows) else "changes"

    def stages_with(self, name: str) -> tuple[Stage, ...]:
        """Return the stages from the first on in which flows have a congestion control."""
        stages = self.stages
        has = (any(plan.cc == name for plan in one.experiment.flows) for one in stages)
        return stages[next(number for number, there in enumerate(has) if there) :]

    def first_with(self, name: str) -> Experiment:
        """Return the experiment as it is when flows first have a congestion control."""
        return self.stages_with(name)[0].experiment

    def cc_params_of(self, name: str) -> dict[str, str]:
        """The parameters of one congestion control: those without a dot are for all."""
        own = f"{name}."
        shared = {key: value for key, value in self.cc_params.items() if "." not in key}
        named = {key: value for key, value in self.cc_params.items() if key.startswith(own)}
        return shared | {key.removeprefix(own): value for key, value in named.items()}

    @property
    def mtu_bytes(self) -> int:
        return self.mss_bytes + HEADERS_BYTES

    def record(self) -> dict[str, Any]:
        """Return what run.json says of it: null for what the testbed cannot set."""
        content = {"cc": self.cc, **self.model_dump(mode="json")}
        return content | dict.fromkeys(sorted(self.testbed.unsupported))

    @classmethod
    def from_record(cls, content: Mapping[str, Any]) -> Experiment:
        """Return the experiment that run.json has. Raise pydantic's ValidationError."""
        # `cc` follows from the flows. Older records have defaults of fields that had no effect.
        testbed = options_of(str(content.get("testbed")))
        unread = {"cc"} | (testbed.unsupported if testbed else frozenset())
        known = {
            key: value for key, value in content.items() if value is not None and key not in unread
        }
        if testbed and isinstance(options := known.get(testbed.section), Mapping):
            known[testbed.section] = testbed.of_record(options)
        return cls.model_validate(known)


class Stage(NamedTuple):
    """An experiment as it is from an instant of the traffic on, until the next change."""

    at_s: float
    experiment: Experiment


_CHANGING = ", ".join(
    [CC.key, "cc_params.NAME"]
    + [one.key for one in written(Experiment) if one.option.changes and not one.option.pairs]
)
"""The keys that may change during a run, for messages."""
