# SPDX-License-Identifier: Apache-2.0
"""The configuration files of core, gNB and UEs, from the templates in containers/."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ccu.testbeds.oai import mac_pcap
from ccu.testbeds.oai import version as versions
from ccu.testbeds.oai.carrier import Carrier
from ccu.testbeds.oai.usrp import Usrp
from ddu.installation import data

CONTAINERS = data("ccu", "containers")

MCC, MNC, DNN = "208", "99", "oai"
UE_POOL, UE_GATEWAY = "12.1.1.0/24", "12.1.1.1"
AMF_ADDRESS = "192.168.71.132"
GNB_ADDRESS = "192.168.71.140"
HOST_ADDRESS = "192.168.71.129"
"""The host's address on the core's network, also that of a gNB with the host's network."""
_FIRST_UE_ADDRESS = 150
"""The last byte of the first UE's address in 192.168.71.128/26, which ends at .191."""
MOST_UES = 16
"""The gNB's limit unless compiled for more (MAX_MOBILES_PER_GNB; radio/rfsimulator/README.md)."""
AMBR_MBPS = 10_000
TELNET_PORT = 9090
GNB_FILE, UE_FOLDER = "/opt/oai-gnb/etc/gnb.conf", "/opt/oai-nr-ue/etc"
UE_FILE = f"{UE_FOLDER}/nr-ue.conf"
GTP_U_PORT = 2152
# The initial channel, which a run restores. Noise begins when a UE connects: with that of
# OpenAirInterface's own configuration (-4 and -2), a gNB that has heard none yet takes it for
# preambles in five occasions, and a preamble is 21 dB above it where 20 are asked for.
PLOSS_DB, NOISE_DB = 20, -30
# Keys of OpenAirInterface's own test SIMs.
_FIRST_IMSI = 208990100001100
_KEY, _OPC = "fec86ba6eb707ed08905757b1bb44b8f", "c42449363bbad02b66d16bc975d77cc1"


# The files by which a gNB without a core passes the UE its configuration.
RECONFIGURATION = ("reconfig.raw", "rbconfig.raw")

Core = Literal["oai", "open5gs", "none"]
CORES: tuple[Core, ...] = ("oai", "open5gs")
"""Those with which Compose starts the testbed without ccu."""


# With core "none" nobody reads them; they are small.
_CORE_FILES: dict[Core, tuple[str, ...]] = {
    "oai": ("core.yaml", "subscribers.sql"),
    "open5gs": ("open5gs.yaml", "subscribers.js"),
    "none": ("core.yaml", "subscribers.sql"),
}


@dataclass(frozen=True)
class Sim:
    imsi: str
    key: str = _KEY
    opc: str = _OPC


@dataclass(frozen=True)
class Plan:
    """The plan of a testbed: everything that its configuration depends on."""

    version: str
    carrier: Carrier
    ue_count: int = 1
    usrp: Usrp | None = None
    """The radios; None means rfsim."""
    ue_mtu_bytes: int = 1500
    core: Core = "oai"
    real_time: bool = False
    """True if containers of this machine may have real-time priority."""
    on_samples: bool = False
    """True if the channel is on the samples before they reach rfsim, which has none then."""
    rfsim_server: str = GNB_ADDRESS
    """The address that the UE connects to: the gNB's, or one that passes its samples on."""
    gnb_antennas: int = 1
    ue_antennas: int = 1
    mac_pcap: bool = False
    """True if the gNB writes its transport blocks."""

    @property
    def radio(self) -> str:
        return self.usrp.model if self.usrp else "rfsim"

    @property
    def options(self) -> versions.Options:
        return versions.options(self.version)

    @property
    def profile(self) -> str:
        if self.core == "none":
            return "rfsim-without-core"
        if self.core == "open5gs":
            return "rfsim-open5gs"
        return f"usrp-{self.usrp.model}" if self.usrp else "rfsim"

    @property
    def gnb_service(self) -> str:
        return f"gnb-{self.usrp.model}" if self.usrp else "gnb"

    @property
    def gnb_address(self) -> str:
        return HOST_ADDRESS if self.usrp else GNB_ADDRESS

    @property
    def ue_numbers(self) -> range:
        """Return the numbers of the UEs, which count from 1."""
        return range(1, self.ue_count + 1)

    def ue_service(self, number: int) -> str:
        return f"ue{number}-{self.usrp.model}" if self.usrp else f"ue{number}"


def sims(count: int) -> list[Sim]:
    return [Sim(str(_FIRST_IMSI + index)) for index in range(count)]


def ue_address(number: int) -> str:
    """Return the address of a UE's container on the core's network; `number` counts from 1."""
    return f"192.168.71.{_FIRST_UE_ADDRESS + number - 1}"


def gnb_options(plan: Plan) -> str:
    """Return the gNB's options after the configuration file, separated by spaces, unquoted."""
    words = _mode(plan, GNB_FILE)
    if plan.usrp:
        words += ["--continuous-tx"]
    else:
        words += ["--rfsim", *_channel_models(plan)]
    if plan.carrier.three_quarters:
        words.append("-E")
    if plan.mac_pcap:
        words += mac_pcap.OPTIONS
    return " ".join([*words, *_telnet(plan.gnb_address, plan.options.gnb_telnet), *_LOG])


def ue_options(plan: Plan, number: int) -> str:
    carrier = plan.carrier
    words = _mode(plan, UE_FILE)
    if plan.core == "none":
        for file in RECONFIGURATION:
            words += [f"--{file.removesuffix('.raw')}-file", f"{UE_FOLDER}/{file}"]
    if plan.usrp:
        words += ["--ue-fo-compensation"]
    else:
        prefix = plan.options.rfsim_prefix
        words += [
            "--rfsim",
            prefix + "serveraddr",
            plan.rfsim_server,
            *_channel_models(plan),
        ]
    if carrier.three_quarters:
        words.append("-E")
    words += ["-r", str(carrier.prb), "--numerology", "1", "--band", "78"]
    words += ["-C", str(carrier.centre_hz), "--ssb", str(carrier.ssb_subcarrier)]
    if plan.usrp and plan.usrp.ue_address:
        words += ["--usrp-args", plan.usrp.ue_address]
    if plan.ue_antennas > 1:
        words += ["--ue-nb-ant-rx", str(plan.ue_antennas), "--ue-nb-ant-tx", str(plan.ue_antennas)]
    if not plan.usrp:
        words += _telnet(ue_address(number))
    return " ".join([*words, *_LOG])


def _channel_models(plan: Plan) -> list[str]:
    """Return the options that have rfsim apply its own channel models."""
    return [] if plan.on_samples else [plan.options.rfsim_prefix + "options", "chanmod"]


def _mode(plan: Plan, file: str) -> list[str]:
    """Return the options that select the configuration file and standalone mode, where they must
    be given."""
    words = ["-O", file] if plan.options.names_file else []
    if plan.core == "none":
        return [*words, "--noS1", "--do-ra"]
    return [*words, "--sa"] if plan.options.sa_flag else words


# Without colours and file names, which a reader would have to remove.
_LOG = ("--log_config.global_log_options", "level,nocolor,time")


def _telnet(address: str, modules: str = "") -> list[str]:
    """Return the telnet server's options. It has no password: it listens on the containers'
    network."""
    return [
        *("--telnetsrv", "--telnetsrv.listenaddr", address),
        *("--telnetsrv.listenport", str(TELNET_PORT)),
        *(("--telnetsrv.shrmod", modules) if modules else ()),
    ]


def write(plan: Plan, folder: Path) -> dict[str, str]:
    """Write every file into `folder`; return the variables of containers/oai.yml."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in rendered(plan).items():
        (folder / name).write_text(text)
    variables = {
        "OAI_CONFIG": str(folder.resolve()),
        "OAI_VERSION": plan.version,
        "OAI_GNB_OPTIONS": gnb_options(plan),
    }
    return variables | {
        f"OAI_UE{number}_OPTIONS": ue_options(plan, number) for number in plan.ue_numbers
    }


def rendered(plan: Plan) -> dict[str, str]:
    """Return the text of each file by name."""
    known = sims(plan.ue_count)
    given: dict[str, Any] = {
        "version": plan.version,
        "carrier": plan.carrier,
        "radio": plan.radio,
        "core": plan.core,
        "options": plan.options,
        "mcc": MCC,
        "mnc": MNC,
        "dnn": DNN,
        "amf_address": AMF_ADDRESS,
        "gnb_address": plan.gnb_address,
        "gnb_interface": "eth0",
        "sdr_address": plan.usrp.address if plan.usrp else "",
        "ploss_db": PLOSS_DB,
        "antennas": plan.gnb_antennas,
        "layers": min(plan.gnb_antennas, plan.ue_antennas),
        "ue_pool": UE_POOL,
        "ue_gateway": UE_GATEWAY,
        "ue_mtu_bytes": plan.ue_mtu_bytes,
        "ambr_mbps": AMBR_MBPS,
        "ambr_bps": AMBR_MBPS * 10**6,
        "sims": known,
    }
    # Each process models the channels that it receives: the gNB one per UE, a UE that of the gNB.
    uplinks = [(f"rfsimu_channel_ue{index}", NOISE_DB) for index in range(plan.ue_count)]
    files = {
        **{name: _template(f"core/{name}.j2").render(given) for name in _CORE_FILES[plan.core]},
        "gnb.conf": _template("ran/gnb.conf.j2").render(
            given, models=[*uplinks, ("rfsimu_channel_enB0", NOISE_DB)]
        ),
    }
    for number, sim in enumerate(known, start=1):
        files[f"ue{number}.conf"] = _template("ran/ue.conf.j2").render(
            given,
            number=number,
            sim=sim,
            rfsim_server=plan.rfsim_server,
            models=[("rfsimu_channel_enB0", NOISE_DB)],
        )
    return files


def _template(name: str) -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader([CONTAINERS, CONTAINERS / "ran"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return environment.get_template(name)
