# SPDX-License-Identifier: Apache-2.0
"""A stand-in's modem in lockstep: it sends samples slot by slot, and packets beside them.

Packets travel in datagrams from modem to modem, each with the number of its slot; whether the slot's
block is decoded is decided by the samples of the slot, which pass through whatever is between.
"""

import fcntl
import marshal
import os
import socket
import struct
import subprocess

import mac
import samples

GNB_ADDRESS = "192.168.71.140"
PORT = 4044
# DDDDDDDSUU: slots with data.
DOWNLINK, UPLINK = range(7), (8, 9)
PATTERN_SLOTS = 10
# Seen of 2026.w11: slots that a modem runs ahead of what it gets, and the UE's timing advance in samples.
LEAD_SLOTS = {"gnb": 5, "ue": 2}
ADVANCE = {"gnb": 0, "ue": 200}
PEERS = {"gnb": "ue", "ue": "gnb"}
# linux/if_tun.h
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
MOST_BYTES = 65_535


class Modem:
    """The modem `name` at one end of a connection to the other's, over `carrier`."""

    def __init__(self, name, carrier, heard=lambda _: None):
        self.name, self.carrier, self._heard = name, carrier, heard
        self.sender, self.receiver = mac.Sender(carrier.prb), mac.Receiver(carrier.prb)
        self.snr_db = self.rsrp_dbm = 0.0
        self.peer_rsrp_dbm = 0.0
        self._peer = None if name == "gnb" else (GNB_ADDRESS, PORT)
        self._beside = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._beside.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self._beside.bind(("0.0.0.0", PORT))
        self._beside.setblocking(False)
        self._messages = {}
        self._answers = []
        self._tun = None
        period = carrier.period(name)
        self._signal = period * (2 * carrier.slot_samples // samples.PERIOD + 2)
        self._slots = DOWNLINK if name == "gnb" else UPLINK
        self._until = 0

    def open_tunnel(self, device, address):
        """Make the device with the modem's packets, and give it its address."""
        self._tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(self._tun, TUNSETIFF, struct.pack("16sH", device.encode(), IFF_TUN | IFF_NO_PI))
        for words in (f"addr add {address}/24 dev {device}", f"link set {device} up"):
            subprocess.run(["ip", *words.split()], check=True)

    def run(self, connection):
        """Exchange blocks until the other end closes the connection."""
        stream = connection.makefile("rb")
        slot, advance = self.carrier.slot_samples, ADVANCE[self.name]
        if self.name == "gnb":
            # Speaks first, of one sample.
            samples.write_block(connection, 0, self._signal[: samples.SAMPLE_BYTES])
            self._until = 1
            self._send_to(connection, LEAD_SLOTS["gnb"] * slot)
        while (block := samples.read_block(stream)) is not None:
            first, payload = block
            end = first + len(payload) // samples.SAMPLE_BYTES
            self._receive((first + ADVANCE[PEERS[self.name]]) // slot, payload)
            got = -(-end // slot) if self.name == "gnb" else end // slot
            self._send_to(connection, (got + LEAD_SLOTS[self.name]) * slot - advance)

    def _send_to(self, connection, until):
        """Send samples up to `until`, in blocks that end with a slot."""
        slot, advance = self.carrier.slot_samples, ADVANCE[self.name]
        while self._until < until:
            end = self._until + slot - (self._until + advance) % slot
            self._send_beside((self._until + advance) // slot)
            begin = self._until % samples.PERIOD
            part = self._signal[begin * 4 : (begin + end - self._until) * 4]
            samples.write_block(connection, self._until, part)
            self._until = end

    def _send_beside(self, slot):
        while self._tun is not None:
            try:
                packet = os.read(self._tun, MOST_BYTES)
            except BlockingIOError:
                break
            if packet[0] >> 4 == 4:  # Not the kernel's own IPv6.
                self.sender.put(packet)
        if self._peer:
            block = self.sender.block() if slot % PATTERN_SLOTS in self._slots else None
            message = (slot, self.snr_db, self.rsrp_dbm, self._answers, block)
            self._beside.sendto(marshal.dumps(message), self._peer)
            self._answers = []

    def _receive(self, slot, payload):
        if measured := self.carrier.measure(payload, PEERS[self.name]):
            self.snr_db, self.rsrp_dbm = measured
            self._heard(self.snr_db)
        self._read_beside()
        for number in [one for one in self._messages if one <= slot]:
            _, snr_db, rsrp_dbm, answers, block = self._messages.pop(number)
            self.sender.snr_db, self.peer_rsrp_dbm = snr_db, rsrp_dbm
            for answer in answers:
                self.sender.answered(*answer)
            if block is not None:
                answer, packets = self.receiver.receive(block, self.snr_db)
                self._answers.append(answer)
                for packet in packets:
                    os.write(self._tun, packet)

    def _read_beside(self):
        while True:
            try:
                datagram, self._peer = self._beside.recvfrom(MOST_BYTES)
            except BlockingIOError:
                return
            message = marshal.loads(datagram)
            self._messages[message[0]] = message
