# SPDX-License-Identifier: Apache-2.0
"""The options of an experiment with a phone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from ccu.host.disk import amount
from ccu.spec import traffic, units
from ccu.spec.option import Option, Switch
from ccu.spec.testbed import TestbedOptions
from ddu.console.problems import invalid

if TYPE_CHECKING:
    from ccu.spec.experiment import Experiment

PHONES_OWN = "phone"
"""The name of a flow's congestion control that means the phone's own."""


class PhoneOptions(TestbedOptions):
    """The options that only the testbed phone has."""

    section: ClassVar[str] = "phone"
    unsupported: ClassVar[frozenset[str]] = frozenset({
        "prb", "numerology", "scenario", "carrier_ghz", "ues", "duplex", "mcs_table", "rtt_ms",
        "gnb_profile", "radio", "dl_delay_ms", "loss", "path", "buffer", "ul_buffer", "aqm", "ecn",
        "mss_bytes", "socket_buffer", "gro", "mac_interval_ms",
    })  # fmt: skip
    unsupported_reason: ClassVar[str] = "an operator's network cannot be configured"
    foreign_ccs: ClassVar[Mapping[str, str]] = {"ul": PHONES_OWN}
    has_places: ClassVar[bool] = True

    name: Literal["phone"] = "phone"
    serial: Annotated[
        str | None,
        Option("Serial number of the phone, as `adb devices` lists it.", unset="the only phone"),
    ] = None
    adb: Annotated[
        bool,
        Option(
            "Whether adb reaches the phone; without it, the user starts the transfer.",
            switches=(
                Switch(
                    "--no-adb", False, "Without adb: the user starts the transfer on the phone."
                ),
            ),
        ),
    ] = True
    ssh: Annotated[
        str | None,
        Option(
            "Address of Termux's sshd on the phone as HOST[:PORT], in place of adb.",
            key="phone_ssh",
            unset="adb",
            example="phone:8022",
        ),
    ] = None
    load: Annotated[
        Literal["auto", "nc", "iperf3"],
        Option(
            "Traffic program on the phone: iperf3, nc, or auto for iperf3 if the phone has it.",
            key="phone_load",
        ),
    ] = "auto"
    server_address: Annotated[
        str | None,
        Option(
            "Address by which the phone reaches the server.",
            unset="the server's own towards the internet",
        ),
    ] = None
    port: Annotated[
        int,
        Field(ge=1024, le=65_000),
        Option(
            "TCP port of the first flow, open to the internet; each further flow has the next.",
            key="server_port",
        ),
    ] = 5201
    phone_address: Annotated[
        str | None,
        Option("Client address that may connect without a token.", unset="none", about_run=True),
    ] = None
    max_bytes: Annotated[
        int,
        Field(ge=10_000),
        Option(
            "Data volume that all flows of the run together may carry.",
            read=units.size_bytes,
            show=lambda size_bytes: amount(size_bytes).replace(" ", ""),
            takes_value=True,
            example="500MB",
            about_run=True,
        ),
    ] = 10**9
    place: Annotated[
        str, Field(max_length=200), Option("Name of the place where the phone is.", about_run=True)
    ] = ""
    note: Annotated[str, Field(max_length=2000), Option("Remark for run.json.", about_run=True)] = (
        ""
    )

    @property
    def has_shell(self) -> bool:
        """Return whether ccu can run commands on the phone."""
        return self.adb or self.ssh is not None

    @property
    def most_bytes(self) -> int:
        return self.max_bytes

    def at_place(self, place: str, note: str) -> PhoneOptions:
        return self.model_copy(update={"place": place, "note": note})

    def refuse(self, experiment: Experiment) -> None:
        """Refuse traffic other than TCP for a duration, and records that only emulation has."""
        for key, lacks in (
            ("explain", "where its packets' delay goes"),
            ("mac_pcap", "its blocks"),
        ):
            if getattr(experiment, key):
                raise invalid(f"a phone does not report {lacks}", "leave it out", key=key)
        if any(experiment.traffic_of(one) != traffic.default() for one in experiment.flows):
            raise invalid(
                "a phone's traffic is TCP, for the run's duration or --max-bytes",
                "leave it out",
                key="traffic" if experiment.traffic != traffic.default() else "flows",
            )


def phone_options(experiment: Experiment) -> PhoneOptions:
    """Return the experiment's options for the phone."""
    assert isinstance(experiment.testbed, PhoneOptions)
    return experiment.testbed
