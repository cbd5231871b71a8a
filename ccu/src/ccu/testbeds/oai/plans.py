# SPDX-License-Identifier: Apache-2.0
"""The plan of a testbed for an experiment, or the reason why OpenAirInterface cannot run it."""

from __future__ import annotations

from ccu.scenarios.oai_channel_model import series
from ccu.spec.experiment import Experiment
from ccu.testbeds.oai import configs, usrp, version
from ccu.testbeds.oai.carrier import carrier
from ccu.testbeds.oai.configs import Plan
from ccu.testbeds.oai.options import oai_options
from testbed_console.problems import InvalidValue, RefusedError, Where, refusal

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
    configs.check_ue_count(experiment.ues)
    if radio and experiment.ues > 1:
        raise refusal("two USRPs are one gNB and one UE only", "leave it out", key="ues")
    chosen = carrier(experiment.prb)
    if radio:
        usrp.check_carrier(radio, chosen)
    return Plan(settings.version, chosen, experiment.ues, radio, experiment.mtu_bytes)


def check(experiment: Experiment) -> None:
    """Raise RefusedError if version or radio cannot run it, or if the scenario has no radio."""
    if plan_of(experiment).usrp is None:
        series(experiment.model_copy(update={"duration_s": 1.0}))
