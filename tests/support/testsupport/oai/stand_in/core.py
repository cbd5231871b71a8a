# SPDX-License-Identifier: Apache-2.0
"""Stand-in for a function of the core, or its database: listens where the real one does.

FAULT=dies (environment): ends in the middle of a run.

As Open5GS's: UDR and PCF end without an error where there is no database at DB_URI, which has
precedence over the file's `db_uri`. MongoDB listens on the loopback interface while it is filled.

The UPF also forwards: when a link's device n6u<n> appears (the tests' links have their core ends
here, one for each UE), it gets an address and that UE's route. In lockstep it has GTP-U with the gNB's stand-in.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from tunnel import Upf

PORTS = {
    "mysql": (socket.SOCK_STREAM, 3306),
    "nrf": (socket.SOCK_STREAM, 80),
    "amf": (socket.SOCK_STREAM, 80),
    "smf": (socket.SOCK_STREAM, 80),
    "upf": (socket.SOCK_DGRAM, 8805),
    "mongodb": (socket.SOCK_STREAM, 27017),
    "open5gs-upf": (socket.SOCK_DGRAM, 8805),
}
OPEN5GS_PORT = (socket.SOCK_STREAM, 7777)
# After the testbed is up, during a run of the tests.
DIES_AFTER_S = 12
FILLED_AFTER_S = 1
DB_URI = re.compile(r"db_uri: (\S+)")
FILES = {
    "mysql": "/docker-entrypoint-initdb.d/subscribers.sql",
    "mongodb": "/docker-entrypoint-initdb.d/subscribers.js",
}
WANTED = {"mysql": "INSERT INTO users", "mongodb": "subscribers.insertMany"}


def main() -> None:
    role = sys.argv[1]
    own = f"/openair-{role}/etc/config.yaml"
    wanted = WANTED.get(role, "served_guami_list")
    if role.startswith("open5gs-"):
        # As the real one: its own part of the file that `-c` names; the UPF's device is there.
        own = sys.argv[sys.argv.index("-c") + 1]
        wanted = "\n" + role.removeprefix("open5gs-") + ":\n"
        if role == "open5gs-upf" and not Path("/sys/class/net/ogstun").exists():
            sys.exit("ogstun: no such device")
    config = Path(FILES.get(role, own))
    if wanted not in config.read_text():
        sys.exit(f"{config}: no {wanted} in it")
    kind, port = PORTS.get(role, OPEN5GS_PORT)
    if role == "mongodb":
        with socket.create_server(("127.0.0.1", port)):
            time.sleep(FILLED_AFTER_S)
    if role in ("open5gs-udr", "open5gs-pcf"):
        reach_database(os.environ.get("DB_URI") or DB_URI.search(config.read_text())[1])
    with socket.socket(socket.AF_INET, kind) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("0.0.0.0", port))
        if kind == socket.SOCK_STREAM:
            listener.listen()
        print(f"{role} listens on {port}")
        if role.endswith("upf"):
            Upf()
        began_s = time.monotonic()
        while True:
            if os.environ.get("FAULT") == "dies" and time.monotonic() - began_s > DIES_AFTER_S:
                sys.exit(f"terminate called: stand-in: the {role} dies, as requested")
            if role.endswith("upf"):
                forward()
            time.sleep(0.05)


def reach_database(uri: str) -> None:
    host = uri.removeprefix("mongodb://").partition("/")[0]
    try:
        socket.create_connection((host, 27017), 5).close()
    except OSError:
        print(f"\x1b[33mdbi\x1b[0m WARNING: Failed to connect to server [{uri}]")
        sys.exit(0)


def forward() -> None:
    """A link that is gone takes its route along; one that comes again has another index."""
    for folder in Path("/sys/class/net").glob("n6u*"):
        name, number = folder.name, int(folder.name.removeprefix("n6u"))
        try:
            index = (folder / "ifindex").read_text()
        except OSError:
            continue
        if known.get(name) == index:
            continue
        route = f"route add 12.1.1.{1 + number}/32 dev {name}"
        for words in (f"addr add 12.1.1.1/32 dev {name}", f"link set {name} up", route):
            subprocess.run(["ip", *words.split()], check=True)
        known[name] = index
        print(f"{name} is up")


known: dict[str, str] = {}
# The first process of a container ends by SIGTERM only if it says so.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
main()
