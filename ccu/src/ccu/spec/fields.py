# SPDX-License-Identifier: Apache-2.0
"""The fields of an experiment, each with its default and the option by which people write it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field, SerializeAsAny, field_validator

from ccu.spec import changes as during_run
from ccu.spec import gnb_profile as profiles
from ccu.spec import radio as radios
from ccu.spec import traffic as kinds
from ccu.spec import units
from ccu.spec.changes import Change
from ccu.spec.duplex import Tdd, TddDuplex
from ccu.spec.flow_plan import FlowPlan
from ccu.spec.gnb_profile import GnbProfile
from ccu.spec.option import Option, Switch
from ccu.spec.path import Buffer, Lines, Loss
from ccu.spec.socket_buffers import DEFAULT_BYTES, LEAST_BYTES, MOST_BYTES, STOCK
from ccu.spec.testbed import TestbedOptions, Value, default, drivers, options_of, preferred
from ccu.spec.traffic import TrafficOptions
from ddu.console.problems import InvalidValue, invalid
from ddu.console.suggestions import unknown

# Programs that make traffic count a day at most.
LONGEST_S = 86_400
# With traffic, 106 PRB of so many UEs are a third of a core at most (docs/benchmarks/nr-link.md).
MOST_UES = 64
# RFC 9293 section 3.7.1: the MSS leaves out the fixed IPv4 and TCP headers, and only these.
HEADERS_BYTES = 40

Milliseconds = partial(Option, read=units.milliseconds, show="{:g}ms".format)
"""The option of a time that an experiment has in ms and people write with a unit."""

DROP_TAIL = "droptail"
"""A queue without management; nr-link knows the names of all others (`ccu list aqm`)."""

CC = Option(
    "Congestion control, a name of `ccu list cc` or a file of your own: a flow of it for each UE.",
    key="cc",
    changes=True,
)
"""Short for `flows`."""


class ExperimentFields(Value):
    """The fields, each valid by itself; `Experiment` has what holds between them."""

    flows: Annotated[
        tuple[FlowPlan, ...],
        Field(min_length=1, max_length=64),
        Option(
            "Flows as CC@SECONDS, separated by commas. Each starts then and lasts to the end.",
            read=units.flows,
            takes_value=True,
            example="cubic@0,reno@10",
        ),
    ]
    cc_params: Annotated[
        dict[str, str],
        Option(
            "Parameter of congestion controls as NAME=VALUE, of one as CC.NAME=VALUE; repeatable.",
            flag="--cc-param",
            pairs=True,
            read=units.words,
            schema={"type": "object"},
            example="dtt=60ms",
            changes=True,
        ),
    ] = Field(default_factory=dict)
    direction: Annotated[
        Literal["dl", "ul", "bidir"],
        Option(
            "Direction of the traffic: downlink, uplink, or a flow in each.",
            switches=(
                Switch("--dl", "dl", "Traffic downlink (default)."),
                Switch("--ul", "ul", "Traffic uplink."),
                Switch("--bidir", "bidir", "Traffic in both directions: a flow in each."),
            ),
        ),
    ] = "dl"
    traffic: Annotated[
        SerializeAsAny[TrafficOptions],
        Option(
            "Traffic of each flow: a kind of `ccu list traffic`, with what it takes.",
            read=kinds.read,
            takes_value=True,
            example="KIND:SPEC",
        ),
    ] = Field(default_factory=kinds.default)
    duration_s: Annotated[
        float,
        Field(gt=0, le=LONGEST_S),
        Option(
            "Duration of the traffic.",
            key="duration",
            read=units.seconds,
            show="{:g}s".format,
            example="2min",
        ),
    ] = 30.0
    # nr-link knows which widths exist; it is asked before anything starts.
    prb: Annotated[
        int,
        Field(ge=1),
        Option("Carrier width in PRBs: 106 are 40 MHz at 30 kHz.", changes=True),
    ] = 106
    numerology: Annotated[
        int,
        Field(ge=0, le=3),
        Option("Numerology \u00b5: subcarriers are 15\u00b72^\u00b5 kHz apart."),
    ] = 1
    scenario: Annotated[
        str,
        Field(min_length=1),
        Option("Radio scenario: a name of `ccu list scenarios`, or a file."),
    ] = "rome-moderate"
    carrier_ghz: Annotated[float, Field(gt=0, le=300), Option("Carrier frequency in GHz.")] = 3.6
    ues: Annotated[
        int, Field(ge=1, le=MOST_UES), Option("Number of UEs, each with its own queue and channel.")
    ] = 1
    duplex: Annotated[
        Literal["fdd"] | TddDuplex,
        Option(
            "Duplex: fdd, or the TDD pattern.",
            read=radios.read_duplex,
            show=lambda duplex: str(duplex.tdd.pattern),
            takes_value=True,
            example="DDDSU",
        ),
    ] = TddDuplex(tdd=Tdd())
    mcs_table: Annotated[
        Literal["64qam", "256qam", "64qam-low-se"],
        Option("MCS table: 64qam, 256qam or 64qam-low-se (TS 38.214 clause 5.1.3.1)."),
    ] = "64qam"
    gnb_profile: Annotated[GnbProfile, Option(profiles.MEANING)] = profiles.IDEAL
    radio: Annotated[
        dict[str, Any],
        Option(
            "Radio: a name of `ccu list radios`, a file, or in YAML keys of docs/link-config.md.",
            read=radios.as_it_is,
            takes_value=True,
            example="n78-100MHz-4x4",
        ),
    ] = Field(default_factory=dict)
    """The keys of nr-link's `radio` that are not fields above; nr-link knows their rules."""
    rtt_ms: Annotated[
        float,
        Field(ge=0, le=10_000),
        Milliseconds("Round-trip time of the path without the radio.", key="rtt", changes=True),
    ] = 20.0
    dl_delay_ms: Annotated[
        Annotated[float, Field(ge=0)] | None,
        Milliseconds(
            "One-way delay of the path towards the UE.",
            key="dl_delay",
            flag=None,
            unset="half of the RTT",
            example="15ms",
            changes=True,
        ),
    ] = None
    loss: Annotated[
        Loss,
        Option(
            "Share of packets that the path loses in each direction, as a ratio or in percent.",
            read=units.loss,
            show=lambda loss: f"{loss.dl:g}",
            schema={"type": ["string", "number"]},
            takes_value=True,
            example="1%",
            changes=True,
        ),
    ] = Loss()
    path: Annotated[
        Lines,
        Option(
            "Bit errors, rate limit and cross traffic of the path (docs/link-config.md).",
            flag=None,
            show=lambda _: "{}",
        ),
    ] = Lines()
    buffer: Annotated[
        Buffer,
        Option(
            "Limit of the RLC queue in each direction, in packets or bytes.",
            read=units.buffer,
            show=lambda buffer: f"{buffer.packets}pkt",
            takes_value=True,
            example="2.5MB",
            changes=True,
        ),
    ] = Buffer(packets=3200)
    ul_buffer: Annotated[
        Buffer | None,
        Option(
            "Limit of the uplink's RLC queue, if it differs.",
            flag=None,
            read=units.buffer,
            unset="that of `buffer`",
            takes_value=True,
            example="500pkt",
            changes=True,
        ),
    ] = None
    aqm: Annotated[
        str,
        Field(pattern=r"^[a-z0-9_]+$"),
        Option(
            "Queue management of the RLC queues: droptail, or a name of `ccu list aqm`.",
            changes=True,
        ),
    ] = DROP_TAIL
    ecn: Annotated[
        bool,
        Option(
            "Negotiate ECN (RFC 3168), and mark packets where --aqm would drop them.",
            switches=(Switch("--ecn", True),),
        ),
    ] = False
    seed: Annotated[int, Field(ge=0, lt=2**63), Option("Random seed.")] = 1
    mss_bytes: Annotated[
        int,
        Field(ge=536, le=65_495),
        Option("Maximum segment size of TCP in bytes; the MTU is 40 more.", key="mss"),
    ] = 1460
    socket_buffer: Annotated[
        Annotated[int, Field(ge=LEAST_BYTES, le=MOST_BYTES)] | Literal["stock"],
        Option(
            "Limit of the hosts' socket buffers, each way; `stock` is Linux's own, 4 and 6 MiB.",
            read=units.socket_buffer,
            show=lambda limit: limit if limit == STOCK else f"{limit / 2**20:g}MiB",
            schema={"type": "string"},
            takes_value=True,
            example="6MiB",
        ),
    ] = DEFAULT_BYTES
    gro: Annotated[
        bool,
        Option(
            "Whether the hosts' devices join received segments (generic receive offload).",
            switches=(
                Switch(
                    "--no-gro", False, "Deliver each packet as it came: an ACK for every second."
                ),
            ),
        ),
    ] = True
    start_jitter_ms: Annotated[
        float,
        Field(ge=0, le=60_000),
        Milliseconds(
            "Longest random delay of each flow's start, drawn from the seed.",
            key="start_jitter",
            example="100ms",
        ),
    ] = 0.0
    changes: Annotated[
        tuple[Change, ...],
        Option(
            "Change at an instant of the traffic as TIME:KEY=VALUE; repeatable (docs/changes.md).",
            flag="--change",
            repeats=True,
            read=during_run.read,
            show=lambda _: "",
            schema={"type": "array", "items": {"type": ["string", "object"]}},
            takes_value=True,
            example="20s:cc=bbr",
        ),
    ] = ()
    testbed: Annotated[
        SerializeAsAny[TestbedOptions],
        Option(
            "Testbed: a name of `ccu list testbeds`; by default the first that runs here.",
            show=lambda _: ", else ".join(preferred()),
        ),
    ] = Field(default_factory=lambda: _options(default()))
    capture: Annotated[
        bool,
        Option(
            "Capture packets and sample sockets; without, only the MAC and the traffic report.",
            switches=(Switch("--no-capture", False, "Capture no packets and sample no sockets."),),
        ),
    ] = True
    snaplen_bytes: Annotated[
        int,
        Field(ge=68, le=65_535),
        Option(
            "Bytes of each packet in captures; the MTU or more: whole packets. Below it, captures "
            "in virtual time have of TCP's packets the headers only.",
            key="snaplen",
        ),
    ] = 128
    explain: Annotated[
        bool,
        Option(
            "Record for each packet where its delay went (docs/why.md).",
            switches=(Switch("--explain", True),),
        ),
    ] = False
    mac_pcap: Annotated[
        bool,
        Option(
            "Record the transport blocks for Wireshark (docs/mac-pcap.md).",
            switches=(Switch("--mac-pcap", True),),
        ),
    ] = False
    socket_interval_ms: Annotated[
        float,
        Field(ge=1, le=60_000),
        Milliseconds(
            "Interval between samples of the sockets, at least 1ms.", key="socket_interval"
        ),
    ] = 20.0
    mac_interval_ms: Annotated[
        int,
        Field(ge=1, le=60_000),
        Milliseconds("Length of a sample of the MAC, at least 1ms.", key="mac_interval"),
    ] = 10

    @field_validator("testbed", mode="before")
    @classmethod
    def _choose_by_name(cls, given: Any) -> Any:
        return given if isinstance(given, TestbedOptions) else _options(given)

    @field_validator("traffic", mode="before")
    @classmethod
    def _choose_by_kind(cls, given: Any) -> TrafficOptions:
        return kinds.validated(given)

    @field_validator("duplex", mode="before")
    @classmethod
    def _fdd_or_tdd(cls, written: Any) -> Any:
        if isinstance(written, str) and written != "fdd":
            raise invalid(f"{written!r} is not fdd", "write fdd, or a TDD pattern such as DDDSU")
        return written


def _options(given: Any) -> TestbedOptions:
    """Return the options of the testbed that `given` names. Raise ValueError."""
    if not isinstance(given, Mapping):
        given = {"name": given}
    name = str(given.get("name"))
    options = options_of(name)
    if options is None:
        raise InvalidValue(unknown("testbed", name, drivers()))
    return options.model_validate(given)
