# SPDX-License-Identifier: Apache-2.0
"""The ends of a stand-in's packets: a device of its own, or GTP-U between gNB and UPF."""

import fcntl
import os
import socket
import struct
import subprocess
import threading
from collections import deque

# linux/if_tun.h
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
MOST_BYTES = 65_535
UPF_ADDRESS = "192.168.71.134"
GTP_U_PORT = 2152
# TS 29.281 clause 5.1: version 1, protocol type GTP, no optional fields; then type, length, TEID.
HEADER = struct.Struct("!BBHI")
FLAGS, G_PDU = 0x30, 255


class Tun:
    """A device with the modem's packets."""

    def __init__(self, device, *words):
        """`words` configure it, by ip(8)."""
        self.file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(self.file, TUNSETIFF, struct.pack("16sH", device.encode(), IFF_TUN | IFF_NO_PI))
        for one in (*words, f"link set {device} up"):
            subprocess.run(["ip", *one.split()], check=True)

    def read(self):
        """Return the next packet of IPv4 (not the kernel's own IPv6); None if none waits."""
        try:
            while (packet := os.read(self.file, MOST_BYTES))[0] >> 4 != 4:
                pass
        except BlockingIOError:
            return None
        return packet

    def write(self, packet):
        os.write(self.file, packet)


def g_pdu(teid, packet):
    return HEADER.pack(FLAGS, G_PDU, len(packet), teid) + packet


def packet_of(datagram):
    """Return (TEID, packet) of a G-PDU; None of another message."""
    _, kind, _, teid = HEADER.unpack_from(datagram)
    return (teid, datagram[HEADER.size :]) if kind == G_PDU else None


class N3:
    """The gNB's end of GTP-U; UE number `index` has the TEID `index` + 1 in both directions."""

    def __init__(self, own):
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((own, GTP_U_PORT))
        self._queues = {}
        # A queue of its own, as packets of a whole slot come at once.
        threading.Thread(target=self._receive, daemon=True).start()

    def _receive(self):
        while True:
            if received := packet_of(self._socket.recv(MOST_BYTES)):
                teid, packet = received
                self._queue(teid).append(packet)

    def _queue(self, teid):
        return self._queues.setdefault(teid, deque())

    def tunnel(self, index):
        return N3Tunnel(self._socket, index + 1, self._queue(index + 1))


class N3Tunnel:
    """The packets of one UE on N3."""

    def __init__(self, connection, teid, queue):
        self._socket, self._teid, self._queue = connection, teid, queue

    def read(self):
        return self._queue.popleft() if self._queue else None

    def write(self, packet):
        self._socket.sendto(g_pdu(self._teid, packet), (UPF_ADDRESS, GTP_U_PORT))


class Upf:
    """The UPF's end of GTP-U: it learns each UE's address and TEID from its first packet."""

    DEVICE = "n3tun"

    def __init__(self):
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("0.0.0.0", GTP_U_PORT))
        self._tun = None
        self._ues = {}
        threading.Thread(target=self._receive, daemon=True).start()

    def _receive(self):
        while True:
            datagram, gnb = self._socket.recvfrom(MOST_BYTES)
            if (received := packet_of(datagram)) is None:
                continue
            teid, packet = received
            source = socket.inet_ntoa(packet[12:16])
            if source not in self._ues:
                self._learn(source)
            self._ues[source] = teid, gnb
            self._tun.write(packet)

    def _learn(self, ue):
        if self._tun is None:
            self._tun = Tun(self.DEVICE)
            os.set_blocking(self._tun.file, True)
            threading.Thread(target=self._send, daemon=True).start()
        subprocess.run(["ip", *f"route add {ue}/32 dev {self.DEVICE}".split()], check=True)

    def _send(self):
        while True:
            packet = self._tun.read()
            teid, gnb = self._ues[socket.inet_ntoa(packet[16:20])]
            self._socket.sendto(g_pdu(teid, packet), gnb)
