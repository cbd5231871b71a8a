# SPDX-License-Identifier: Apache-2.0
"""Stand-in for a function of the core, or its database: listens where the real one does.

The UPF also forwards: when the link's device n6 appears (the tests' link has its core end here), it
gets an address and the UEs' route.
"""

import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

PORTS = {
    "mysql": (socket.SOCK_STREAM, 3306),
    "nrf": (socket.SOCK_STREAM, 80),
    "amf": (socket.SOCK_STREAM, 80),
    "smf": (socket.SOCK_STREAM, 80),
    "upf": (socket.SOCK_DGRAM, 8805),
}
FILES = {"mysql": "/docker-entrypoint-initdb.d/subscribers.sql"}


def main() -> None:
    role = sys.argv[1]
    config = Path(FILES.get(role, f"/openair-{role}/etc/config.yaml"))
    wanted = "INSERT INTO users" if role == "mysql" else "served_guami_list"
    if wanted not in config.read_text():
        sys.exit(f"{config}: no {wanted} in it")
    kind, port = PORTS[role]
    with socket.socket(socket.AF_INET, kind) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("0.0.0.0", port))
        if kind == socket.SOCK_STREAM:
            listener.listen()
        print(f"{role} listens on {port}")
        while True:
            if role == "upf":
                forward()
            time.sleep(0.05)


def forward() -> None:
    if not Path("/sys/class/net/n6").exists() or forward.done:
        return
    for words in ("addr add 12.1.1.1/32 dev n6", "link set n6 up", "route add 12.1.1.0/24 dev n6"):
        subprocess.run(["ip", *words.split()], check=True)
    forward.done = True
    print("n6 is up")


forward.done = False
# The first process of a container ends by SIGTERM only if it says so.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
main()
