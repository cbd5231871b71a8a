# SPDX-License-Identifier: Apache-2.0
"""The modems' telnet servers during a run: the scenario replayed, the radio's time, `o1 stats`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ccu.scenarios.oai_channel_model import Setting
from ccu.spec.errors import RunFailed
from ccu.testbeds.oai.configs import TELNET_PORT
from ccu.testbeds.oai.gnb_queries import GnbQueries
from ccu.testbeds.oai.radio_clock import RadioClock
from ccu.testbeds.oai.replay import ChannelLog, Replay, Track
from ccu.testbeds.oai.telnet import Softmodem, TelnetFailed

DOWNLINK, UPLINK = "rfsimu_channel_enB0", "rfsimu_channel_ue{}"
_ON_TIME_MS = 100.0
_SKIPPED_RATIO = 0.05


class RadioControl:
    """The control connections: the gNB has the time and an uplink model per UE, each UE its
    downlink model.

    `settings` are in the order of `ue_addresses`. Raises RunFailed.
    """

    def __init__(
        self,
        gnb_address: str,
        ue_addresses: Sequence[str],
        settings: Sequence[Sequence[Setting]],
        folder: Path,
    ) -> None:
        self.clock = RadioClock(folder / "radio-time.csv")
        self._modems: list[Softmodem] = []
        self._logs = {
            direction: ChannelLog(folder / f"channel-{direction}.csv") for direction in ("ul", "dl")
        }
        self._replays: dict[str, list[Replay]] = {"ul": [], "dl": []}
        self._questions: GnbQueries | None = None
        try:
            self._connect_gnb(gnb_address, settings, folder)
            for ue, address in enumerate(ue_addresses):
                modem = self._connect(address)
                track = Track(modem, DOWNLINK, ue, settings[ue])
                self._replays["dl"].append(Replay(modem, [track], self.clock, self._logs["dl"]))
        except TelnetFailed as error:
            self._close()
            raise RunFailed("channel control", str(error)) from None

    def _connect_gnb(
        self, address: str, settings: Sequence[Sequence[Setting]], folder: Path
    ) -> None:
        gnb = self._connect(address)
        self._questions = GnbQueries(gnb, self.clock, folder)
        uplinks = [Track(gnb, UPLINK.format(ue), ue, each) for ue, each in enumerate(settings)]
        tick = self._questions.ask_one
        self._replays["ul"].append(Replay(gnb, uplinks, self.clock, self._logs["ul"], tick))

    def _connect(self, address: str) -> Softmodem:
        modem = Softmodem(address, TELNET_PORT)
        self._modems.append(modem)
        return modem

    @property
    def notes(self) -> list[str]:
        """Return sentences on what this version does not report, which does not degrade the run."""
        return self._questions.notes if self._questions else []

    def _all(self) -> list[Replay]:
        return [replay for replays in self._replays.values() for replay in replays]

    def start(self) -> None:
        for replay in self._all():
            replay.start()

    def check(self) -> None:
        """Raise RunFailed if a replay has failed."""
        for replay in self._all():
            if replay.failure:
                raise RunFailed("channel control", replay.failure)

    def finish(self) -> list[str]:
        """End the replays and restore the models; return sentences on problems."""
        problems = []
        for replay in self._all():
            try:
                replay.finish()
            except TelnetFailed as error:
                problems.append(f"the channel model was not restored: {error}")
        self._close()
        return problems + self._lateness()

    def _lateness(self) -> list[str]:
        sentences = []
        for name, direction in (("uplink", "ul"), ("downlink", "dl")):
            replays = self._replays[direction]
            off_ms = sorted(off_ms for replay in replays for off_ms in replay.off_ms)
            skipped = sum(replay.skipped_count for replay in replays)
            if not off_ms:
                sentences.append(
                    f"the {name}'s channel was never set: the radio's time stood still"
                )
                continue
            p99_ms = off_ms[min(len(off_ms) - 1, int(len(off_ms) * 0.99))]
            if p99_ms > _ON_TIME_MS or skipped > _SKIPPED_RATIO * len(off_ms):
                sentences.append(
                    f"the {name}'s channel followed its scenario late: {p99_ms:.0f} ms (p99), "
                    f"{skipped} of {len(off_ms) + skipped} settings skipped"
                )
        return sentences

    def _close(self) -> None:
        for modem in self._modems:
            modem.close()
        if self._questions:
            self._questions.close()
        self.clock.close()
        for log in self._logs.values():
            log.close()  # Last, as a full disk refuses it.
