# SPDX-License-Identifier: Apache-2.0
"""OpenAirInterface's options of an experiment, on the testbeds rfsim and usrp."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from ccu.spec.option import Option, Switch
from ccu.spec.testbed import TestbedOptions
from ccu.testbeds.oai.version import DEFAULT, OLDEST
from ddu.console.problems import invalid

if TYPE_CHECKING:
    from ccu.spec.experiment import Experiment


ALONE = "OpenAirInterface"
"""Its containers have fixed addresses, whatever the radio."""
MOST_UES_IN_LOCKSTEP = 4
"""UEs for which the channel emulator was tried."""


class OaiOptions(TestbedOptions):
    """The options that only OpenAirInterface has."""

    section: ClassVar[str] = "oai"
    unsupported: ClassVar[frozenset[str]] = frozenset(
        {"gnb_profile", "duplex", "mcs_table", "radio", "mac_interval_ms"}
        | {"loss", "path", "buffer", "ul_buffer", "gro"}
    )
    unsupported_reason: ClassVar[str] = "with OpenAirInterface it cannot be set"

    name: Literal["rfsim", "usrp"]
    version: Annotated[
        str,
        Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$"),
        Option(
            f"Tag of the images of gNB and UE, from {OLDEST} on.",
            key="oai_version",
            example="2025.w20",
        ),
    ] = DEFAULT
    runtime: Annotated[Literal["docker", "lxc"], Option("Container runtime: docker or lxc.")] = (
        "docker"
    )
    core: Annotated[
        Literal["oai", "open5gs", "none"],
        Option(
            "Core: OpenAirInterface's, Open5GS, or none: gNB and UE alone, without SIM and SCTP.",
            example="open5gs",
        ),
    ] = "oai"
    usrp: Annotated[
        str | None,
        Option(
            "Radios of --testbed usrp: b210, b210:serial=A+serial=B or x310:addr=A+addr=B.",
            unset="none",
            example="b210",
        ),
    ] = None
    lockstep: Annotated[
        bool,
        Option(
            "Hosts in virtual time, which stands still while rfsim runs a slot: the run is the same"
            " however slow the machine (docs/oai.md).",
            switches=(
                Switch("--lockstep", True),
                Switch("--no-lockstep", False, "Hosts in wall time, whatever the pace of rfsim."),
            ),
            unset="true where possible, else false",
            about_run=True,
        ),
    ] = False
    channel: Annotated[
        Literal["samples", "flat"] | None,
        Option(
            "Channel of the scenario: samples puts its taps, noise and level on the samples of gNB"
            " and UE (lockstep only; docs/channel-emulator.md), flat sets rfsim's gain and noise.",
            unset="samples in lockstep, else flat",
            example="flat",
        ),
    ] = None
    uplink_target_db: Annotated[
        Annotated[float, Field(ge=-60, le=60)] | None,
        Option(
            "SNR in dB at the gNB to which the power of UEs is controlled, up to 23 dBm, against"
            " the scenario's noise_ul (with --channel samples).",
            unset="the uplink has the SNR of the downlink",
            example="20",
        ),
    ] = None
    antennas: Annotated[
        Literal["1x1", "1x2", "2x1", "2x2"],
        Option(
            "Antennas of the gNB and of each UE: with 2x2 the downlink has up to two layers (with"
            " --channel samples).",
            example="2x2",
        ),
    ] = "1x1"
    capture_n3: Annotated[
        bool,
        Option(
            "Capture GTP-U between gNB and UPF as well.",
            switches=(Switch("--capture-n3", True),),
            about_run=True,
        ),
    ] = False

    @model_validator(mode="after")
    def _radios_where_there_are_some(self) -> OaiOptions:
        if (self.name == "usrp") != (self.usrp is not None):
            raise invalid(
                "--testbed usrp needs --usrp, and rfsim has none",
                "write b210 or x310:addr=A+addr=B (docs/oai.md)",
                key="usrp",
            )
        return self

    @model_validator(mode="after")
    def _lockstep_where_it_is_possible(self) -> OaiOptions:
        if self.lockstep and self.usrp is not None:
            raise invalid(
                "a USRP keeps real time, and cannot wait for hosts in virtual time",
                "leave --lockstep out, or choose --testbed rfsim",
                key="lockstep",
            )
        if self.channel == "samples" and not self.lockstep:
            raise invalid(
                "only in lockstep do samples of gNB and UE pass through a channel of this project",
                "write --channel flat, or leave --no-lockstep out",
                key="channel",
            )
        for key, without in (("uplink_target_db", None), ("antennas", "1x1")):
            if getattr(self, key) != without and not self.on_samples:
                raise invalid(
                    "only a channel on the samples of gNB and UE has it",
                    "leave it out, or take --testbed rfsim in lockstep with --channel samples",
                    key=key,
                )
        return self

    @classmethod
    def of_record(cls, recorded: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the options of a run.json; lockstep had only the flat channel before `channel` was
        an option."""
        return {"channel": "flat", **recorded} if recorded.get("lockstep") else recorded

    @property
    def on_samples(self) -> bool:
        """Return whether the scenario's channel is on the samples of gNB and UE."""
        return self.lockstep and self.channel != "flat"

    def refuse(self, experiment: Experiment) -> None:
        """Refuse options that OpenAirInterface does not implement."""
        if experiment.aqm != "droptail":
            raise invalid(
                f"{experiment.aqm}: OpenAirInterface's queues are drop-tail",
                "leave it out, or take another testbed",
                key="aqm",
            )
        if experiment.dl_delay_ms is not None and not self.lockstep:
            raise invalid(
                "the path's whole delay is at the server, towards the UE",
                "leave it out, or add --lockstep",
                key="dl_delay_ms",
            )
        if experiment.explain and not self.lockstep:
            raise invalid(
                "in real time OpenAirInterface does not state the delay of packets",
                "leave it out, or add --lockstep",
                key="explain",
            )
        if self.lockstep and experiment.ues > MOST_UES_IN_LOCKSTEP:
            raise invalid(
                f"{experiment.ues}: in lockstep there are at most {MOST_UES_IN_LOCKSTEP} UEs",
                "choose fewer, or write --no-lockstep",
                key="ues",
            )
        if self.lockstep and experiment.ues > 1 and not self.on_samples:
            raise invalid(
                f"{experiment.ues}: rfsim's own channel is one for all UEs in lockstep, where the"
                " gNB gets the sum of their samples",
                "write --channel samples, or --no-lockstep",
                key="ues",
            )


def oai_options(experiment: Experiment) -> OaiOptions:
    """Return the experiment's options for OpenAirInterface."""
    assert isinstance(experiment.testbed, OaiOptions)
    return experiment.testbed
