# SPDX-License-Identifier: Apache-2.0
"""The checks before a run for conditions that make OpenAirInterface's measurements wrong."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path
from typing import Any

from pyroute2 import IPRoute

from ccu.host import listening
from ccu.spec.errors import RunFailed
from ccu.testbeds import Host
from ccu.testbeds.oai import real_time
from ccu.testbeds.oai.configs import GTP_U_PORT, HOST_ADDRESS, TELNET_PORT, Plan
from ccu.testbeds.oai.usrp import Usrp
from ddu.console.problems import Problem, RefusedError, Where, refusal

# Ettus, then National Instruments: B200, B210, B205mini.
_USB_IDS = {
    ("2500", "0020"),
    ("2500", "0021"),
    ("2500", "0022"),
    ("3923", "7813"),
    ("3923", "7814"),
}
_USRP = Where(key="usrp")
_JUMBO_BYTES = 8000
_X310_PORT = 49152
_CPU = Path("/sys/devices/system/cpu")
_USB = Path("/sys/bus/usb/devices")


def check_host(plan: Plan) -> None:
    """Raise RefusedError for a host on which this radio cannot run."""
    if not Path("/dev/net/tun").exists():
        raise refusal(
            "/dev/net/tun: does not exist, and UE and UPF need it", "type: sudo modprobe tun"
        )
    if plan.options.needs_real_time and not real_time.available():
        raise refusal(
            f"OpenAirInterface {plan.version} needs real-time priority, and this kernel gives "
            "containers none (CONFIG_RT_GROUP_SCHED)",
            "use --oai-version 2024.w22 or newer, or another kernel",
            key="oai_version",
        )
    if plan.usrp:
        troubles = (usrp_trouble(plan.usrp), governor_trouble(), *port_troubles())
        if problems := [one for one in troubles if one]:
            raise RefusedError(problems)


def usrp_trouble(usrp: Usrp) -> Problem | None:
    """Return why the radio is not available."""
    if usrp.model == "b210":
        usb_ids = _usb_ids()
        if not usb_ids & _USB_IDS:
            rule = "no B210 on USB (2500:0020)"
            return Problem(rule, "plug it into USB 3, see uhd_find_devices", _USRP)
        return None
    troubles = (_x310_trouble(address) for address in (usrp.address, usrp.ue_address))
    return next((one for one in troubles if one), None)


def _usb_ids() -> set[tuple[str, str]]:
    usb_ids = set()
    for device in _USB.glob("*"):
        try:
            vendor, product = (
                (device / name).read_text().strip() for name in ("idVendor", "idProduct")
            )
        except OSError:
            continue
        usb_ids.add((vendor, product))
    return usb_ids


def _x310_trouble(arguments: str) -> Problem | None:
    pairs = dict(item.partition("=")[::2] for item in arguments.split(","))
    address = pairs.get("addr", "")
    try:
        with IPRoute() as ip:
            route = next(iter(ip.route("get", dst=address)))
            link = next(iter(ip.get_links(route.get("oif"))))
    except Exception as error:
        rule = f"{address}: no route ({error})"
        return Problem(rule, "set up the interface to the X310", _USRP)
    if link.get("mtu") < _JUMBO_BYTES:
        name = link.get("ifname")
        rule = (
            f"{name} to {address} has an MTU of {link.get('mtu')}, and an X310 needs jumbo frames"
        )
        return Problem(rule, f"type: sudo ip link set {name} mtu 9000", _USRP)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.settimeout(1.0)
        try:
            # The firmware's control port refuses or answers; silence means that there is no X310.
            probe.connect((address, _X310_PORT))
            probe.send(b"\0" * 16)
            probe.recv(64)
        except TimeoutError:
            answer = subprocess.run(["ping", "-c", "1", "-W", "1", address], capture_output=True)
            if answer.returncode != 0:
                return Problem(f"{address} does not answer", "check its power and cable", _USRP)
        except OSError:
            return None
    return None


def governor_trouble() -> Problem | None:
    """Return why the CPU's governor loses samples, as a power-saving one does."""
    governors = {
        file.read_text().strip() for file in _CPU.glob("cpu[0-9]*/cpufreq/scaling_governor")
    }
    if governors - {"performance"}:
        rule = f"CPU governor {', '.join(sorted(governors))}: a USRP needs performance"
        return Problem(rule, "type: sudo cpupower frequency-set -g performance")
    return None


def port_troubles() -> list[Problem]:
    """Return a problem for each of the gNB's ports that another program of the host has."""
    used = (("tcp", TELNET_PORT, "telnet server"), ("udp", GTP_U_PORT, "GTP-U"))
    return [
        Problem(
            f"{protocol} port {port} is taken, which the gNB's {what} needs",
            f"see who has it: sudo ss -lnp{protocol[0]} sport = :{port}",
        )
        for protocol, port, what in used
        if listening.addresses(port, protocol) & {HOST_ADDRESS, *listening.ANY}
    ]


def check_route(host: Host, name: str, peer: str, device: str) -> None:
    """Raise RunFailed if traffic of `host`, whose network is `name`, would bypass the radio."""
    with IPRoute(netns=name) as ip:
        route: Any = next(iter(ip.route("get", dst=peer)))
        if route.get("oif") != ip.link_lookup(ifname=device)[0]:
            link = next(iter(ip.get_links(route.get("oif"))))
            raise RunFailed(
                "testbed",
                f"{host}: the route to {peer} goes through {link.get('ifname')}, not {device}: "
                "traffic would bypass the radio",
            )
