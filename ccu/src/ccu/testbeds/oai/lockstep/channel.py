# SPDX-License-Identifier: Apache-2.0
"""The scenario's channel in lockstep: the radio stands still while a setting is made."""

from __future__ import annotations

from pathlib import Path

from ccu.scenarios.oai_channel_model import STEP_S, Setting
from ccu.spec.errors import RunFailed
from ccu.testbeds.oai import configs
from ccu.testbeds.oai.background import Background
from ccu.testbeds.oai.configs import TELNET_PORT
from ccu.testbeds.oai.lockstep.radio import SLOT_S, Radio
from ccu.testbeds.oai.radio_control import DOWNLINK, UPLINK
from ccu.testbeds.oai.replay import ChannelLog, Track
from ccu.testbeds.oai.telnet import Softmodem, TelnetFailed

_STEP_SLOTS = round(STEP_S / SLOT_S)


class HeldChannel(Background):
    """A thread that sets the channel models of gNB and UE at the slots at which they change.

    Raises RunFailed.
    """

    def __init__(self, radio: Radio, settings: list[Setting], folder: Path) -> None:
        super().__init__()
        self._settings = settings
        self._client = radio.connect()
        self.failure: str | None = None
        self._modems: list[Softmodem] = []
        self._tracks: list[tuple[Track, ChannelLog]] = []
        places = {
            "ul": (configs.GNB_ADDRESS, UPLINK.format(0)),
            "dl": (configs.ue_address(1), DOWNLINK),
        }
        try:
            for direction, (address, model) in places.items():
                modem = Softmodem(address, TELNET_PORT)
                self._modems.append(modem)
                log = ChannelLog(folder / f"channel-{direction}.csv")
                self._tracks.append((Track(modem, model, ue=0, settings=settings), log))
        except TelnetFailed as error:
            self.finish()
            raise RunFailed("channel control", str(error)) from None

    def _run(self) -> None:
        try:
            index: int | None = 0
            while index is not None:
                # The radio stands before this slot between its answer and the next request.
                state = self._client.ask("meet", slot=index * _STEP_SLOTS)
                for track, log in self._tracks:
                    track.set(track.setting(index))
                    log.write(index * STEP_S, track, late_ms=0, sent_ms=0, utc_ns=state["utc_ns"])
                index = self._next_change(index)
        except (RunFailed, TelnetFailed, OSError) as error:  # OSError: full disk
            if not self._stop.is_set():
                self.failure = str(error)
        finally:
            self._client.close()

    def _next_change(self, index: int) -> int | None:
        """Return the index of the next setting that differs; None if all are the same. A scenario
        shorter than the run repeats."""
        count = len(self._settings)
        now = self._settings[index % count]
        later = range(index + 1, index + 1 + count)
        return next((one for one in later if self._settings[one % count] != now), None)

    def check(self) -> None:
        """Raise RunFailed if a setting has failed."""
        if self.failure:
            raise RunFailed("channel control", self.failure)

    def finish(self) -> list[str]:
        """End, and restore the models; return sentences on problems."""
        self._end(self._client.close)
        problems = []
        for track, _ in self._tracks:
            try:
                track.restore()
            except TelnetFailed as error:
                problems.append(f"the channel model was not restored: {error}")
        for modem in self._modems:
            modem.close()
        for _, log in self._tracks:
            log.close()  # Last, as it raises OSError on a full disk.
        return problems
