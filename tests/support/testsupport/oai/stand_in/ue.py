# SPDX-License-Identifier: Apache-2.0
"""Stand-in for the nrUE; see README.md. Its interface is the UE end of the tests' nr-link,
or where rfsim has no channel model (lockstep) that of its own modem.

Environment: FAULT (never-attaches, no-address or loses-sync; in lockstep leaves or second-leaves), ABORTS_ONCE (the first start fails),
PACE (radio time in seconds per second).
"""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import options
from modem import Ue
from modem_telnet import ModemTelnet
from samples import Carrier
from tunnel import Tun

FAULT = os.environ.get("FAULT", "")
PACE = float(os.environ.get("PACE", "1.0"))
FIRST_IMSI = 208990100001100
# What the gNB's stand-in answers to a random access, but for success.
SYNCHRONISED_DB = 6.0
# More often than the real UE (1.28 s), as runs of tests are short.
STATISTICS_SLOTS = 500
# After it has attached, in a run of seconds.
LEAVES_AFTER_SLOTS = 3000
LEAVERS = {"leaves": 0, "second-leaves": 1}
PREAMBLE_NOT_HEARD, NO_RANDOM_ACCESS_RESPONSE = b"0", b"2"


def say(text):
    print(f"{time.monotonic():.6f} {text}", flush=True)


def say_statistics():
    say("[NR_MAC]   UE 0 RNTI 4cba stats sfn: 384.8, cumulated bad DCI 0")
    print("    DL harq: 1/0\n    Ul harq: 38/0 avg code rate 0.1", flush=True)


def connected(cell):
    """Connect to the gNB within 10 s; what it sends then may take any time."""
    gnb = socket.create_connection((cell, 4043), 10)
    gnb.settimeout(None)
    return gnb


def send_samples(given, connection, index):
    """Be a modem whose samples decide what it carries."""
    heard = 0

    def hear(snr_db):
        nonlocal heard
        if heard == 0 and snr_db > SYNCHRONISED_DB:
            say("[PHY]   Initial sync successful, PCI: 0")
            address = f"addr add {address_of(given, index)}/24 dev oaitun_ue1"
            modem.leg.tunnel = Tun("oaitun_ue1", address)
        heard += heard > 0 or snr_db > SYNCHRONISED_DB
        if LEAVERS.get(FAULT) == index and heard > LEAVES_AFTER_SLOTS:
            sys.exit("stand-in: the UE leaves, as requested")
        if heard % STATISTICS_SLOTS == 1:
            say_statistics()

    antennas = int(given.get("--ue-nb-ant-tx", 1))
    modem = Ue(index, Carrier(int(given["-r"]), "-E" in given, antennas), hear)
    modem.exchange(connection)
    say("[HW]   W Lost socket")
    sys.exit(1)


def address_of(given, index):
    return "10.0.1.2" if "--do-ra" in given else f"12.1.1.{2 + index}"


def main():
    given = options.parse(sys.argv[1:])
    options.ask_for_priority()
    config = Path(given["-O"]).read_text()
    for name in ("--reconfig-file", "--rbconfig-file"):
        if "--do-ra" in given and b"stand-in" not in Path(given[name]).read_bytes():
            sys.exit(f"Assertion (fd) failed! cannot read file {given[name]}")
    imsi = re.search(r'imsi = "(\d{15})"', config)
    if imsi is None:
        sys.exit("no SIM")
    index = int(imsi[1]) - FIRST_IMSI
    mark = Path("/tmp/started-before")
    if os.environ.get("ABORTS_ONCE") and not mark.exists():
        mark.touch()
        sys.exit("Assertion (bytes_read == size) failed! stand-in: aborts at its first start")
    if "--telnetsrv" in given:
        ModemTelnet(
            given["--telnetsrv.listenaddr"],
            int(given["--telnetsrv.listenport"]),
            "softmodem_5Gue> ",
            [("rfsimu_channel_enB0", -4.0), ("rfsimu_channel_ue0", -2.0)],
            PACE,
            0.02,
        )
    while FAULT == "never-attaches":
        say("[PHY]   synch Failed: ")
        time.sleep(0.5)
    # Over a USRP the gNB is on the host, which is the gateway here.
    cell = options.radio(given, config)["serveraddr"] if "--rfsim" in given else "192.168.71.129"
    while True:
        try:
            gnb = connected(cell)
            break
        except OSError as error:
            say(f"[HW]   connect() to {cell}:4043 failed, errno({error.errno})")
            time.sleep(1)
    if options.sends_samples(given, config):
        send_samples(given, gnb, index)
    say("[PHY]   Initial sync successful, PCI: 0")
    while (answer := gnb.recv(1)) == PREAMBLE_NOT_HEARD:
        say("[NR_MAC]   [UE 0][RAPROC] Got no response: exceeded RA window")
        time.sleep(0.5)
        gnb = connected(cell)
    if not answer:
        say("[HW]   W Lost socket")
        sys.exit(1)
    while answer == NO_RANDOM_ACCESS_RESPONSE:
        say("[NR_MAC]   [UE 0][RAPROC] RAR reception failed")
        time.sleep(0.5)
    Path("/tmp/synchronised").touch()
    if FAULT == "no-address":
        say("[NAS]   Received PDU Session Establishment reject")
        time.sleep(60)
    interface = "oaitun_ue1"
    while not Path("/sys/class/net", interface).exists():
        time.sleep(0.02)
    address = address_of(given, index)
    for words in (f"addr add {address}/24 dev {interface}", f"link set {interface} up"):
        subprocess.run(["ip", *words.split()], check=True)
    say(f"[NAS]   Received PDU Session Establishment Accept, UE IPv4: {address}")
    began_s = time.monotonic()
    while True:
        time.sleep(1.28 / PACE if FAULT != "loses-sync" else 0.2)
        say_statistics()
        if FAULT == "loses-sync" and time.monotonic() - began_s > 3:
            say("[PHY]   synch Failed: stand-in: the UE loses its cell, as requested")
            sys.exit(1)
        if not gnb.fileno():
            break


# The first process of a container ends by SIGTERM only if it says so.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
main()
