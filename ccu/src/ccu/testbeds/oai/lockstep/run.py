# SPDX-License-Identifier: Apache-2.0
"""A whole run in lockstep: containers up, radio held, the plan in virtual time, everything down."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Any

from ccu.host import namespace
from ccu.scenarios.oai_channel_model import series
from ccu.spec.errors import RunFailed
from ccu.testbeds import Outcome, Site
from ccu.testbeds.oai import mac_pcap, preflight, testbed
from ccu.testbeds.oai.gnb_files import GnbFiles
from ccu.testbeds.oai.lockstep import capture_time, turns
from ccu.testbeds.oai.lockstep.channel import HeldChannel
from ccu.testbeds.oai.lockstep.clock import RadioTime
from ccu.testbeds.oai.lockstep.radio import SLOTS_FILE, Radio
from ccu.testbeds.oai.n3 import N3Capture, n3_file
from ccu.testbeds.oai.options import oai_options
from ccu.testbeds.oai.services import server_of
from ccu.testbeds.oai.stack import UE_INTERFACE, Stack
from ccu.testbeds.virtual_time.plan import host_of
from ccu.testbeds.virtual_time.run import Run
from ccu.traffic.flow import Flow

# A modem closes its connection earlier than it ends.
_ENDING_S = 10.0
# Interference 30 dB below the signal.
_LATE_ENERGY_RATIO = 1e-3


def perform(site: Site, flows: Sequence[Flow]) -> Outcome:
    """Run the experiment. Raises RunFailed, or Interrupted."""
    radio = Radio(site)
    coupled: _Coupled | None = None
    with turns.first():
        stack = testbed.prepare(site, radio)
        try:
            stack.up()
            coupled = _Coupled(site, flows, stack, radio)
            return coupled.perform()
        finally:
            stack.down()
            if coupled:
                coupled.restamp_logs()


class _Coupled:
    """Hosts in virtual time and the radio between them."""

    def __init__(self, site: Site, flows: Sequence[Flow], stack: Stack, radio: Radio) -> None:
        self._site = site
        self._stack = stack
        self._radio = radio
        self._folder = site.raw / "oai"
        self._run = Run(site, flows)
        self._problems: list[str] = []
        self._time: RadioTime | None = None

    def perform(self) -> Outcome:
        stack = self._stack
        with stack.in_networks():
            self._prepare_tunnel()
        self._run.prepare(self._written_by_root(), radio=str(self._radio.path))
        leads = self._radio.hold(stack)
        self._time = time = RadioTime(self._radio, self._folder)
        files = GnbFiles(stack.gnb_pid, self._folder, time.now_ns)
        with ExitStack() as ends:
            ends.callback(files.finish)
            ends.callback(time.finish)  # Before it, as it may wait for the time.
            if channel := self._settings_of_rfsim():
                ends.callback(lambda: self._problems.extend(channel.finish()))
            n3 = self._capture_of_n3(ends)
            if channel:
                channel.start()
            time.start()
            files.start()
            self._perform_plan()
            self._await_counters(files)
        # The radio's record of slots is complete, which that of one that broke off is not.
        if n3:
            self._restamp_n3(n3.file)
        if stack.plan.mac_pcap:
            self._collect_blocks()
        return self._outcome(files, leads)

    def _written_by_root(self) -> list[Path]:
        """Return what root opens in the folder for raw data while the kernel may write there."""
        captured = oai_options(self._site.experiment).capture_n3
        return [self._folder, *([n3_file(self._site)] if captured else [])]

    def _capture_of_n3(self, ends: ExitStack) -> N3Capture | None:
        """Start the capture on N3 where it is asked for; `ends` ends it."""
        if not oai_options(self._site.experiment).capture_n3:
            return None
        n3 = N3Capture(self._site, self._stack)
        ends.callback(n3.finish)
        return n3

    def _perform_plan(self) -> None:
        try:
            self._run.perform()
        except RunFailed:
            # The radio fails first where a modem ends.
            self._stack.check_radio(_ENDING_S)
            raise

    def _restamp_n3(self, capture: Path) -> None:
        if not capture_time.restamp(capture, self._slots.radio_ns):
            self._problems.append("no GTP-U was captured on N3 while the radio ran")

    def _collect_blocks(self) -> None:
        file = self._folder / mac_pcap.NAME
        problems = mac_pcap.collect(self._stack.gnb_pid(), file)
        if not problems:
            capture_time.restamp(file, self._slots.passing_ns)
        self._problems += problems

    @cached_property
    def _slots(self) -> capture_time.Slots:
        return capture_time.read_slots(self._folder / SLOTS_FILE)

    def _settings_of_rfsim(self) -> HeldChannel | None:
        """Return what sets rfsim's channel models; None if the channel is on the samples."""
        site = self._site
        if self._stack.plan.on_samples:
            return None
        (settings,) = series(site.experiment)
        programs_first = site.supervisor.programs_first
        with programs_first():
            channel = HeldChannel(self._radio, settings, self._folder)
        site.supervisor.watch(programs_first()(channel.check))
        return channel

    def restamp_logs(self) -> None:
        """Give what the modems have printed the radio's time."""
        ues = (f"ue{number - 1}-stdout.log" for number in self._stack.plan.ue_numbers)
        for name in ("gnb-stdout.log", *ues):
            if self._time:
                self._time.restamp(self._folder / name)

    def _prepare_tunnel(self) -> None:
        """Check that packets of each UE can only pass through the radio."""
        stack, plan = self._stack, self._stack.plan
        server = server_of(plan)
        server_netns = self._set_mtu(server.service, server.interface)
        for number in plan.ue_numbers:
            netns = self._set_mtu(plan.ue_service(number), UE_INTERFACE)
            address = stack.ue_address(number)
            preflight.check_route("server", server_netns, address, server.interface)
            preflight.check_route(host_of(number), netns, server.address, UE_INTERFACE)

    def _set_mtu(self, service: str, device: str) -> str:
        """Set the MTU of a tunnel's end; return the name of its network."""
        name = self._stack.namespace_of(service)
        namespace.set_mtu(name, device, self._site.experiment.mtu_bytes)
        return name

    def _await_counters(self, files: GnbFiles) -> None:
        # The gNB writes its counters once per second of wall time: wait for the last ones.
        try:
            files.wait_for_counters()
        except TimeoutError:
            self._problems.append("the gNB's counters are older than the end of the traffic")

    def _outcome(self, files: GnbFiles, leads: dict[str, Any]) -> Outcome:
        outcome = self._run.outcome(files.mac_bytes)
        summary = outcome.summary
        if summary["verdict"] == "valid" and self._problems:
            summary["verdict"] = "degraded"
        notes = [*self._stack.notes, *_late_energy(leads.get("late_energy_ratio"))]
        summary["verdict_reasons"] += self._problems + notes
        try:
            coupling = summary["coupling"] | {
                "slot_ns": summary["slot_ns"],
                "lost_packets": summary["lost_packets"],
                "dl_lead_slots": leads["dl_lead_slots"],
                "ul_lead_slots": max(leads["ul_lead_slots"]),
                "watched_threads_count": leads["threads"],
            }
        except KeyError as error:
            raise RunFailed("virtual time", f"nr-link's summary has no {error}") from None
        outcome.records.update(
            mac={"file": "raw/oai/nrMAC_stats.log", "source": "oai"},
            link={"file": "raw/oai/radio-time.csv", "source": "oai"},
            coupling=coupling,
        )
        return outcome


def _late_energy(ratio: float | None) -> list[str]:
    """Return a sentence if paths are so late that OFDM symbols disturb each other."""
    if ratio is None or ratio < _LATE_ENERGY_RATIO:
        return []
    return [
        f"{ratio:.1%} of the channel's energy comes later than the cyclic prefix of 2.34 µs: it"
        " acts as interference, which nr-link's model does not have"
    ]
