# SPDX-License-Identifier: Apache-2.0
"""The socket option REMINIS_DTT of the module, which the virtual testbed's kernel has built in."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from testsupport.prepared import BIN

UAPI = Path(__file__).parents[2] / "kmod/reminis_uapi.h"
ACCEPTED = """
import socket, struct, sys
ip, option, address = socket.IPPROTO_IP, int(sys.argv[1]), ("127.0.0.1", 5000)
open("/proc/sys/net/ipv4/tcp_congestion_control", "w").write("reminis")
listener = socket.socket()
listener.setsockopt(ip, option, struct.pack("I", 30000))
listener.bind(address)
listener.listen()
client = socket.create_connection(address)
accepted, _ = listener.accept()
print(*(struct.unpack("I", one.getsockopt(ip, option, 4))[0] for one in (accepted, client)))
"""


def test_an_accepted_socket_inherits_the_listeners_dtt(kernel: Path) -> None:
    """Also where Reminis is the machine's default, and no socket has asked for it."""
    (option,) = re.findall(r"#define REMINIS_DTT (\d+)", UAPI.read_text())
    command = [BIN / "nr-link", "shell", "--virtual", "--", sys.executable, "-c", ACCEPTED, option]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert (ran.stdout, ran.returncode) == ("30000 0\n", 0), ran.stderr
