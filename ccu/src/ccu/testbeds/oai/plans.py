# SPDX-License-Identifier: Apache-2.0
"""The plan of a testbed for an experiment, or the reason why OpenAirInterface cannot run it."""

from __future__ import annotations

from ccu.scenarios.oai_channel_model import series
from ccu.spec.experiment import Experiment
from ccu.testbeds.oai import configs, usrp, version
from ccu.testbeds.oai.carrier import carrier
from ccu.testbeds.oai.configs import Plan
from ccu.testbeds.oai.options import OaiOptions, oai_options
from ddu.console.problems import InvalidValue, RefusedError, Where, refusal

_NUMEROLOGY = 1


def plan_of(experiment: Experiment) -> Plan:
    """Return the plan. Raises RefusedError if this version or radio cannot run the experiment."""
    settings = oai_options(experiment)
    try:
        version.options(settings.version)
    except InvalidValue as error:
        raise RefusedError(error.at(Where(key="oai_version"))) from None
    try:
        radio = usrp.parse(settings.usrp) if settings.usrp else None
    except InvalidValue as error:
        raise RefusedError(error.at(Where(key="usrp"))) from None
    if experiment.numerology != _NUMEROLOGY:
        raise refusal(
            f"{experiment.numerology}: OpenAirInterface is configured at 30 kHz",
            "leave it out, or write 1",
            key="numerology",
        )
    if experiment.ues > configs.MOST_UES:
        rule = f"{experiment.ues}: OpenAirInterface's gNB takes 1 to {configs.MOST_UES}"
        raise refusal(rule, "choose fewer", key="ues")
    if radio and experiment.ues > 1:
        raise refusal("two USRPs are one gNB and one UE only", "leave it out", key="ues")
    chosen = carrier(experiment.prb)
    if radio:
        usrp.check_carrier(radio, chosen)
    if settings.core == "none":
        _check_without_core(experiment, settings)
    if settings.core == "open5gs" and (radio or settings.runtime != "docker"):
        raise refusal(
            "Open5GS is set up with rfsim in Docker only",
            "use --testbed rfsim --runtime docker, or --core oai",
            key="core",
        )
    gnb_antennas, ue_antennas = map(int, settings.antennas.split("x"))
    return Plan(
        settings.version,
        chosen,
        experiment.ues,
        radio,
        experiment.mtu_bytes,
        settings.core,
        on_samples=settings.on_samples,
        rfsim_server=configs.HOST_ADDRESS if settings.lockstep else configs.GNB_ADDRESS,
        gnb_antennas=gnb_antennas,
        ue_antennas=ue_antennas,
        mac_pcap=experiment.mac_pcap,
    )


def _check_without_core(experiment: Experiment, settings: OaiOptions) -> None:
    """Raise RefusedError for what needs a core."""
    fix = "leave --core none out"
    if not version.options(settings.version).without_core:
        rule = f"{settings.version}: the UE cannot be configured without a core before 2023.w33"
        raise refusal(rule, "choose a newer version, or " + fix, key="oai_version")
    if settings.usrp:
        raise refusal("without a core, only rfsim can be used", fix, key="usrp")
    if experiment.ues > 1:
        raise refusal(f"{experiment.ues}: without a core, the gNB has one UE", fix, key="ues")
    if settings.capture_n3:
        raise refusal("without a core, there is no N3 to capture", fix, key="capture_n3")


def check(experiment: Experiment) -> None:
    """Raise RefusedError if version or radio cannot run it, or if the scenario has no radio."""
    plan = plan_of(experiment)
    if plan.usrp is not None:
        return
    if plan.on_samples or plan.ue_count == 1 or plan.options.channel_per_ue:
        series(experiment.model_copy(update={"duration_s": 1.0}))
        return
    first, *others = series(experiment)
    if any(one != first for one in others):
        raise refusal(
            f"{plan.version}: all UEs have one uplink channel before 2025.w09, and those of "
            f"{experiment.scenario} differ",
            "choose a newer version, one UE, or a scenario in which they do not",
            key="ues",
        )
