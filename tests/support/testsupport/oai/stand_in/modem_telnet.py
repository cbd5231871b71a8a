# SPDX-License-Identifier: Apache-2.0
"""Stand-in for the softmodems' telnet server: the dialogue of 2026.w11 as it was recorded.

Answers differ from the recording in their numbers only. One client at a time; no negotiation; the
prompt comes after an answer, but before that of `rfsimu …`.
"""

import json
import os
import socket
import threading
import time

DESCRIPTOR = """model owner: rfsimulator
nb_tx: 1    nb_rx: 1    taps: 1 bandwidth: 0.000000    sampling: 61440000.000000
channel length: 1    Max path delay: 0.000000   ricean fact.: 0.000000    angle of arrival: 0.000000 (randomized:No)
max Doppler: 0.000000    path loss: {ploss:.6f}  noise: {noise_power_dB:.6f} rchannel offset: 0    forget factor; 0.000000
Initial phase: 0.000000   nb_path: 10 
"""
TAIL = "taps: 0   lin. ampli. : 1.000000    delay: 0.000000 \n----------------\n"
RATE_HZ = 61_440_000.0


class ModemTelnet:
    """Serves in a thread. `history` keeps (time, command) of everything that was asked, `applied`
    (time, model, noise) of every change. `rntis` are those of the UEs, as they are now."""

    def __init__(
        self,
        address,
        port,
        prompt,
        models,
        pace=1.0,
        delay_s=0.0,
        refuses=False,
        rntis=lambda: [0x4CBA],
        old=False,
    ):
        self.prompt, self.pace, self.delay_s, self.refuses, self.rntis = (
            prompt,
            pace,
            delay_s,
            refuses,
            rntis,
        )
        self.models = [
            {"name": name, "ploss": 20.0, "noise_power_dB": noise} for name, noise in models
        ]
        self.old = old
        self.history = []
        self.applied = []
        self.began_s = time.monotonic()
        self._listener = socket.create_server((address, port))
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self):
        self._listener.close()

    def radio_s(self, at_s=None):
        return ((at_s or time.monotonic()) - self.began_s) * self.pace

    def _serve(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.refuses:
                client.close()
                continue
            try:
                self._talk(client)
            except OSError:
                pass
            finally:
                client.close()

    def _talk(self, client):
        with client.makefile("r", newline="\n") as lines:
            for line in lines:
                command = line.strip()
                self.history.append((time.monotonic(), command))
                time.sleep(self.delay_s)
                answer = self._answer(command)
                if command.startswith("rfsimu"):
                    client.sendall((self.prompt + answer).encode())
                else:
                    client.sendall((answer + self.prompt).encode())

    def _answer(self, command):
        words = command.split()
        if self.old and command in ("rfsimu vtime now", "o1 stats"):
            return ""
        if command == "channelmod show current":
            return "".join(
                f"model {index} {model['name']} type AWGN:\n" + DESCRIPTOR.format(**model) + TAIL
                for index, model in enumerate(self.models)
            )
        if words[:2] == ["channelmod", "modify"] and len(words) == 5:
            model = self.models[int(words[2])]
            if words[3] in model:
                model[words[3]] = float(words[4])
                self.applied.append((time.monotonic(), model["name"], model["noise_power_dB"]))
                return DESCRIPTOR.format(**model)
            return ""  # an unknown parameter is answered by the prompt alone
        if command == "rfsimu vtime":
            # As the real server: it frees a buffer that only an argument would have set.
            print("munmap_chunk(): invalid pointer", flush=True)
            os._exit(134)
        if command == "rfsimu vtime now":
            samples = int(self.radio_s() * RATE_HZ)
            return (
                f"rfsimu_vtime_cmd: vtime measurement: TS {samples} sample_rate {RATE_HZ:.3f}\n\n"
            )
        if command == "o1 stats" and self.prompt.startswith("softmodem_gnb"):
            rntis = self.rntis()
            status = {
                "o1-config": {"device": {"gnbId": 3584, "vendor": "stand-in"}},
                "O1-Operational": {
                    "frame-type": "tdd",
                    "band-number": 78,
                    "num-ues": len(rntis),
                    "ues": rntis,
                    "load": 0,
                    "ues-thp": [{"rnti": rnti, "dl": 0, "ul": 0} for rnti in rntis],
                },
            }
            return json.dumps(status, indent=2) + "\nOK\n"
        return ""
