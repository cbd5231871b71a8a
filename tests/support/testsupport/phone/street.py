# SPDX-License-Identifier: Apache-2.0
"""A server and a phone on this machine: two namespaces with nr-link between them, toybox as the
phone's programs, Android's own answers replayed, and Debian's adb client in between."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
from pathlib import Path

from pyroute2 import netns

from ccu.host import processes, resources
from ccu.host.namespace import Namespace, inside
from ccu.host.processes import StartedProcess
from testsupport.phone.adbd import Adbd
from testsupport.ports import free_port
from testsupport.prepared import Started

BIN = Path(sys.executable).parent
ADDRESSES = {4: ("198.51.100.1", "198.51.100.2"), 6: ("2001:db8:5::1", "2001:db8:5::2")}
"""The addresses of server and phone, by the version of IP that the operator gives."""
TOYBOX = ("nc", "sleep", "grep", "head", "sed", "ifconfig", "id", "cat", "getconf", "toybox")
TERMUX = ("termux-telephony-cellinfo", "termux-battery-status", "termux-wifi-connectioninfo")
DEVICE, CORE_DEVICE = "rmnet_data0", "n6"


class Street:
    """The phone, the link to the server, and the commands that a user types at the server."""

    def __init__(self, folder: Path, rate_mbps: float = 40.0, version: int = 4) -> None:
        self.folder = folder
        self.server_address, self.phone_address = ADDRESSES[version]
        tag = secrets.token_hex(2)
        self.server, self.phone = f"srv-{tag}", f"phone-{tag}"
        self.state = folder / "state"
        self._home = folder / "home"
        self._home.mkdir(parents=True)
        self._programs()
        # A session that is killed leaves them to `ccu clean`.
        self._resources = resources.begin_record(f"street-{tag}")
        self._resources.register(Namespace(self.server), Namespace(self.phone))
        self._link = self._start_link(rate_mbps)
        self.adbd = Adbd(self._on_phone)
        self.adbd.start(lambda: inside(self.server))
        self.adb_port = free_port()
        self.set()

    def _programs(self) -> None:
        """Write the commands of Android that toybox lacks; each answers with `state`."""
        programs = self.folder / "bin"
        programs.mkdir()
        self.state.mkdir()
        toybox = shutil.which("toybox")
        assert toybox is not None
        for name in TOYBOX:
            (programs / name).symlink_to(toybox)
        answering = Path(__file__).parent / "android.sh"
        for name in ("dumpsys", "getprop", "settings", "date", "pidof", *TERMUX):
            (programs / name).symlink_to(answering)
        (programs / "ip").symlink_to(answering)

    def _on_phone(self, script: str) -> list[str]:
        environment = [f"PATH={self.folder / 'bin'}", f"STATE={self.state}"]
        run = ["ip", "netns", "exec", self.phone, "env", "-i", *environment]
        return [*run, "/bin/sh", "-c", script]

    def set(self, **values: str) -> None:
        """Set the phone's answers from now on; see android.sh."""
        for name, value in values.items():
            part = self.state / f".{name}"
            part.write_text(value)
            part.replace(self.state / name)

    def _start_link(self, rate_mbps: float) -> subprocess.Popen[bytes]:
        for name in (self.server, self.phone):
            netns.create(name)
            _ip(name, "link", "set", "lo", "up")
        scenario = f"""
schema: rf-scenario/1
name: street
summary: A given rate.
sources: [chosen]
license: Apache-2.0
duration_s: 600
capacity: {{dl: {{constant_mbps: {rate_mbps}}}, ul: {{constant_mbps: {rate_mbps}}}}}
"""
        (self.folder / "scenario.yaml").write_text(scenario)
        (self.folder / "link.yaml").write_text(json.dumps(self._link_config()))
        program = [str(BIN / "nr-link"), "run", "--config", str(self.folder / "link.yaml")]
        link = subprocess.Popen(program, stdout=subprocess.PIPE)
        identity = processes.identify(link.pid)
        assert identity is not None
        self._resources.register(StartedProcess("nr-link", *identity))
        assert link.stdout is not None
        assert b"ready" in link.stdout.readline()
        for name, device, own, peer in (
            (self.server, CORE_DEVICE, self.server_address, self.phone_address),
            (self.phone, DEVICE, self.phone_address, self.server_address),
        ):
            _ip(name, "link", "set", device, "up", "mtu", "1500")
            quick = ["nodad"] if ":" in own else []
            _ip(name, "addr", "add", own, "peer", peer, "dev", device, *quick)
            default = "::/0" if ":" in own else "0.0.0.0/0"
            _ip(name, "route", "add", default, "dev", device, "src", own)
        return link

    def _link_config(self) -> dict[str, object]:
        path = {"delay_ms": 10.0, "loss_ratio": 0.0}
        ue = {"name": DEVICE, "netns": self.phone, "addresses": [self.phone_address]}
        return {
            "schema": "nr-link/1",
            "seed": 1,
            "mtu_bytes": 1500,
            "scenario": "scenario.yaml",
            "path": {"dl": path, "ul": path},
            "queue": {"dl": {"packets": 200}, "ul": {"packets": 200}},
            "samples": {"interval_ms": 100},
            "devices": {"core": {"name": CORE_DEVICE, "netns": self.server}, "ue": [ue]},
            "output": {"mac": "mac.csv", "link": "link.csv", "summary": "link-summary.json"},
        }

    def start(self, name: str, *args: object, changed: str = "") -> Started:
        """Start `ccu` or `ddu` at the server, with an adb of its own. See `Started`."""
        environment = self._environment()
        return Started(name, *args, environment=environment, network=self.server, changed=changed)

    def ccu(self, *args: object) -> subprocess.CompletedProcess[str]:
        return self.start("ccu", *args).result()

    def adb(self, *args: str) -> None:
        """Run the user's adb at the server."""
        environment = os.environ | self._environment()
        words = ["ip", "netns", "exec", self.server, "adb", *args]
        subprocess.run(words, env=environment, capture_output=True, timeout=600)

    def _environment(self) -> dict[str, str]:
        return {"HOME": str(self._home), "ANDROID_ADB_SERVER_PORT": str(self.adb_port)}

    def plug_in(self) -> str:
        """The phone's name at adb."""
        serial = f"127.0.0.1:{self.adbd.port}"
        self.adb("connect", serial)
        return serial

    def close(self) -> None:
        self.adb("kill-server")
        self.adbd.stop()
        self._link.terminate()
        self._link.communicate(timeout=600)
        self._resources.remove()


def _ip(name: str, *args: str) -> None:
    subprocess.run(["ip", "-n", name, *args], check=True)
