# SPDX-License-Identifier: Apache-2.0
"""What is to be run: one validated value, whatever it was resolved from."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

Direction = Literal["dl", "ul", "bidir"]
Way = Literal["dl", "ul"]

# iperf3 counts a day at most (MAX_TIME of its iperf.h).
LONGEST_S = 86_400
# With traffic, 106 PRB of so many UEs are a third of a core at most (docs/benchmarks/nr-link.md).
MOST_UES = 64
EMULATED = "emulated"
OAI_TESTBEDS = ("rfsim", "usrp")
PHONE = "phone"
PHONES_OWN = "phone"
"""As a flow's congestion control: whatever the phone has."""
# RFC 9293 section 3.7.1: the MSS leaves out the fixed IPv4 and TCP headers, and only these.
HEADERS_BYTES = 40


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def _name_of_a_cc(written: str) -> str:
    """TCP_CA_NAME_MAX of Linux is 16 bytes, the last of them 0."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,15}", written):
        raise ValueError(f"{written!r} is no name of a congestion control; see `ccu list cc`")
    return written


class FlowPlan(_Value):
    """One flow each way that the direction has, from `start_s` to the end of the run."""

    cc: Annotated[str, AfterValidator(_name_of_a_cc)]
    start_s: Annotated[float, Field(ge=0)] = 0.0
    ue: Annotated[int, Field(ge=1)] | None = None
    """Which of the UEs has it, from 1; None: flows take turns."""


class Traffic(_Value):
    """What iperf3 sends; `rate_bps` is that of one UDP sender, IP headers not counted.

    A flow with `volume_bytes` ends when all is sent; the run's duration is the most it may take.
    """

    kind: Literal["tcp", "udp"] = "tcp"
    rate_bps: Annotated[float, Field(gt=0, le=100e9)] | None = None
    volume_bytes: Annotated[int, Field(ge=1)] | None = None

    @model_validator(mode="after")
    def _udp_has_a_rate(self) -> Traffic:
        if (self.kind == "udp") != (self.rate_bps is not None):
            raise ValueError("udp needs a rate and tcp has none; write tcp or udp:100M")
        if self.kind == "udp" and self.volume_bytes is not None:
            raise ValueError("a volume is for tcp; write tcp:1GB or udp:100M")
        return self


class Buffer(_Value):
    """The RLC queue's limit in either direction."""

    packets: Annotated[int, Field(ge=1)] | None = None
    bytes: Annotated[int, Field(ge=1)] | None = None

    @model_validator(mode="after")
    def _one_limit(self) -> Buffer:
        if (self.packets is None) == (self.bytes is None):
            raise ValueError("a buffer is limited in packets or in bytes; write 3200pkt or 2.5MB")
        return self


class Loss(_Value):
    """Share of packets that the path loses at random, each way on its own."""

    dl: Annotated[float, Field(ge=0, le=1)] = 0.0
    ul: Annotated[float, Field(ge=0, le=1)] = 0.0


class CrossTraffic(_Value):
    """Evenly spaced packets of others through the path's line."""

    rate_mbps: Annotated[float, Field(gt=0)]
    packet_bytes: Annotated[int, Field(ge=1)] = 1500


class Line(_Value):
    """What one direction of the path may have beside delay and loss (docs/link-config.md)."""

    bit_error_ratio: Annotated[float, Field(ge=0, le=1)] | None = None
    rate_mbps: Annotated[float, Field(gt=0)] | None = None
    queue: Buffer | None = None
    cross_traffic: CrossTraffic | None = None


class Lines(_Value):
    dl: Line = Line()
    ul: Line = Line()


class Special(_Value):
    """Symbols of a special slot before and after the guard."""

    dl_symbols: Annotated[int, Field(ge=0, le=14)] = 6
    ul_symbols: Annotated[int, Field(ge=0, le=14)] = 4


class Tdd(_Value):
    """Slots in turn: D, S and U (TS 38.213 clause 11.1)."""

    pattern: Annotated[str, Field(pattern=r"^[DSU]{1,80}$")] = "DDDDDDDSUU"
    special: Special = Special()


class TddDuplex(_Value):
    tdd: Tdd


class Oai(_Value):
    """OpenAirInterface's part, on the testbeds rfsim and usrp."""

    version: Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$")] = "2026.w11"
    """Tag of the gNB's and the UE's image."""
    runtime: Literal["docker", "lxc"] = "docker"
    usrp: str | None = None
    """b210, b210:serial=A+serial=B, x310:addr=A+addr=B"""
    capture_n3: bool = False


class Phone(_Value):
    """A phone's part, on the testbed phone."""

    serial: str | None = None
    """As `adb devices` names it; None: the only one."""
    adb: bool = True
    """Without, its owner starts the transfer by hand, and nothing is known of its radio."""
    ssh: str | None = None
    """HOST[:PORT] of Termux's sshd; the phone is then asked by it, and not by adb."""
    load: Literal["auto", "nc", "iperf3"] = "auto"
    """What makes the traffic on the phone; auto: iperf3, if the phone has it."""
    server_address: str | None = None
    """By which the phone reaches the server; None: the one that goes to the internet."""
    port: Annotated[int, Field(ge=1024, le=65_000)] = 5201
    """Of the first flow; further flows have the next."""
    phone_address: str | None = None
    """Who connects from here need not show the run's token."""
    max_bytes: Annotated[int, Field(ge=10_000)] = 10**9
    """That all flows of the run together may carry."""
    place: Annotated[str, Field(max_length=200)] = ""
    note: Annotated[str, Field(max_length=2000)] = ""

    @property
    def is_asked(self) -> bool:
        """Somebody can run commands on it."""
        return self.adb or self.ssh is not None


OF_THE_LINK = frozenset(
    {"prb", "numerology", "scenario", "carrier_ghz", "ues", "duplex", "mcs_table", "rtt_ms"}
    | {"dl_delay_ms", "loss", "path", "buffer", "ul_buffer", "aqm", "ecn", "mss_bytes"}
    | {"mac_interval_ms"}
)
"""What an operator's network has of its own, and nobody can ask it for."""
OF_THE_RADIO = frozenset({"prb", "numerology", "carrier_ghz", "duplex", "mcs_table"})
"""What means nothing where the scenario gives the capacity itself."""


class Experiment(_Value):
    """Everything that determines a run; run.json carries it as it is."""

    flows: Annotated[tuple[FlowPlan, ...], Field(min_length=1, max_length=64)]
    cc_params: dict[str, str] = {}
    direction: Direction = "dl"
    traffic: Traffic = Traffic()
    duration_s: Annotated[float, Field(gt=0, le=LONGEST_S)] = 30.0
    # Which widths there are is nr-link's to say; it is asked before anything starts.
    prb: Annotated[int, Field(ge=1)] = 106
    numerology: Annotated[int, Field(ge=0, le=6)] = 1
    scenario: Annotated[str, Field(min_length=1)] = "rome-moderate"
    carrier_ghz: Annotated[float, Field(gt=0, le=300)] = 3.6
    ues: Annotated[int, Field(ge=1, le=MOST_UES)] = 1
    """UEs, each with its own queue and channel."""
    duplex: Literal["fdd"] | TddDuplex = TddDuplex(tdd=Tdd())
    mcs_table: Literal["64qam", "256qam", "64qam-low-se"] = "64qam"
    rtt_ms: Annotated[float, Field(ge=0, le=10_000)] = 20.0
    dl_delay_ms: Annotated[float, Field(ge=0)] | None = None
    """What of the round trip lies on the way to the UE; None: half."""
    loss: Loss = Loss()
    path: Lines = Lines()
    buffer: Buffer = Buffer(packets=3200)
    ul_buffer: Buffer | None = None
    """The uplink's own limit; None: the same as downlink's."""
    aqm: Literal["droptail", "codel", "pie", "dualpi2"] = "droptail"
    """What manages the RLC queue of either direction before it is full."""
    ecn: bool = False
    """Hosts negotiate ECN (RFC 3168), and the queue's management marks where it would drop."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    mss_bytes: Annotated[int, Field(ge=536, le=65_495)] = 1460
    testbed: str = EMULATED
    oai: Oai | None = None
    phone: Phone | None = None
    capture: bool = True
    socket_interval_ms: Annotated[float, Field(ge=1, le=60_000)] = 20.0
    mac_interval_ms: Annotated[int, Field(ge=1, le=60_000)] = 10

    @field_validator("duplex", mode="before")
    @classmethod
    def _fdd_or_tdd(cls, written: Any) -> Any:
        if isinstance(written, str) and written != "fdd":
            raise ValueError(f"{written!r} is not fdd; of TDD write {{tdd: {{pattern: DDDSU}}}}")
        return written

    @model_validator(mode="after")
    def _flows_fit(self) -> Experiment:
        for plan in self.flows:
            lasts_s = self.duration_s - plan.start_s
            if lasts_s <= 0:
                raise ValueError(
                    f"flow {plan.cc}@{plan.start_s:g} starts when the run of {self.duration_s:g} s "
                    "is over; start it earlier or run longer"
                )
            if abs(lasts_s - round(lasts_s)) > 1e-9:
                raise ValueError(
                    f"flow {plan.cc}@{plan.start_s:g} would last {lasts_s:g} s; iperf3 times whole "
                    "seconds: mend its start or the duration"
                )
        return self

    @model_validator(mode="after")
    def _oai_has_its_testbed(self) -> Experiment:
        if self.oai is not None and self.testbed not in OAI_TESTBEDS:
            raise ValueError(
                "--oai-version, --runtime, --usrp, --capture-n3 are for OpenAirInterface: "
                f"add --testbed {' or '.join(OAI_TESTBEDS)}, or leave them out"
            )
        if self.oai is not None and (self.testbed == "usrp") != (self.oai.usrp is not None):
            raise ValueError(
                "--testbed usrp needs --usrp, b210 or x310:addr=A+addr=B (docs/oai.md); rfsim none"
            )
        return self

    @model_validator(mode="after")
    def _phone_has_its_testbed(self) -> Experiment:
        if (self.phone is not None) != (self.testbed == PHONE):
            raise ValueError(
                "--serial, --no-adb, --server-address, --server-port, --phone-address, "
                "--max-bytes, --place, --note are for a phone: add --testbed phone, or leave "
                "them out"
            )
        if self.phone is None:
            return self
        if asked := sorted(OF_THE_LINK & self.model_fields_set):
            raise ValueError(
                f"{', '.join(asked)}: an operator's network is as it is; leave it out with "
                "--testbed phone"
            )
        if self.traffic != Traffic():
            raise ValueError(
                "--traffic: with a phone it is TCP, for the run's time or --max-bytes; leave it out"
            )
        wrong = {plan.cc for plan in self.flows} - {PHONES_OWN}
        if self.direction == "ul" and wrong:
            raise ValueError(
                f"--cc {', '.join(sorted(wrong))}: an uplink is sent by the phone, with the one "
                f"that it has; leave --cc out, or write {PHONES_OWN}"
            )
        return self

    @model_validator(mode="after")
    def _flows_have_their_ue(self) -> Experiment:
        for plan in self.flows:
            if plan.ue is not None and plan.ue > self.ues:
                raise ValueError(
                    f"flow {plan.cc}@{plan.start_s:g} is for UE {plan.ue} of {self.ues}; "
                    "give more --ues, or name another"
                )
        return self

    @model_validator(mode="after")
    def _something_manages_the_queue(self) -> Experiment:
        if self.ecn and self.aqm == "droptail":
            raise ValueError(
                "--ecn: a drop-tail queue marks nothing; add --aqm codel, pie or dualpi2, "
                "or leave it out"
            )
        if self.aqm != "droptail" and self.testbed in OAI_TESTBEDS:
            raise ValueError(
                f"--aqm {self.aqm}: OpenAirInterface's queues are drop-tail; leave it out, "
                "or take --testbed emulated"
            )
        return self

    @model_validator(mode="after")
    def _delay_is_part_of_the_round_trip(self) -> Experiment:
        if self.dl_delay_ms is not None and self.dl_delay_ms > self.rtt_ms:
            raise ValueError(
                f"--rtt: dl_delay is {self.dl_delay_ms:g} ms of {self.rtt_ms:g} ms; "
                "lower the one or raise the other"
            )
        return self

    def delay_ms(self, way: Way) -> float:
        """One-way delay of the path beside the radio."""
        dl_ms = self.rtt_ms / 2 if self.dl_delay_ms is None else self.dl_delay_ms
        # Rounded to 1 fs, so that 260 - 130.1 is 129.9 and not 129.89999999999998.
        return dl_ms if way == "dl" else round(self.rtt_ms - dl_ms, 12)

    def buffer_of(self, way: Way) -> Buffer:
        """The limit of a direction's RLC queue."""
        return self.ul_buffer if way == "ul" and self.ul_buffer else self.buffer

    @property
    def ways(self) -> tuple[Way, ...]:
        return ("dl", "ul") if self.direction == "bidir" else (self.direction,)

    @property
    def cc(self) -> str:
        """The congestion controls in one word, each named once, for names and tables."""
        return "+".join(dict.fromkeys(plan.cc for plan in self.flows))

    @property
    def servers_ccs(self) -> tuple[str, ...]:
        """The congestion controls that this machine's kernel has to have, each once."""
        phone_sends = self.testbed == PHONE and self.direction == "ul"
        if self.traffic.kind == "udp" or phone_sends:
            return ()
        return tuple(dict.fromkeys(plan.cc for plan in self.flows))

    @property
    def mtu_bytes(self) -> int:
        return self.mss_bytes + HEADERS_BYTES
