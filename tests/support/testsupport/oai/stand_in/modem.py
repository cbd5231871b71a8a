# SPDX-License-Identifier: Apache-2.0
"""A stand-in's modem in lockstep: it sends samples slot by slot, and packets beside them.

Packets travel in datagrams from modem to modem, each with the number of its slot; whether the slot's
block is decoded is decided by the samples of the slot, which pass through whatever is between.
"""

import marshal
import socket

import mac
import samples

GNB_ADDRESS = "192.168.71.140"
PORT = 4044
# DDDDDDDSUU: slots with data.
DOWNLINK, UPLINK = range(7), (8, 9)
PATTERN_SLOTS = 10
# Seen of 2026.w11: slots that a modem runs ahead of what it gets, and the UE's timing advance in samples.
LEAD_SLOTS = {"gnb": 5, "ue": 2}
ADVANCE = 200
# UEs are at different distances.
MORE_ADVANCE = 100
MOST_BYTES = 65_535


class Leg:
    """One end of the MAC between gNB and UE number `index`, from 0 on; `tunnel` gives and takes
    packets."""

    def __init__(self, index, prb, tunnel=None):
        self.index, self.tunnel = index, tunnel
        self.sender, self.receiver = mac.Sender(prb), mac.Receiver(prb)
        self.snr_db = self.rsrp_dbm = self.peer_rsrp_dbm = 0.0
        self._messages = {}
        self._answers = []

    def fetch(self):
        """Take the packets that wait in the tunnel."""
        while self.tunnel and (packet := self.tunnel.read()):
            self.sender.put(packet)

    def message(self, slot, may_send, ues=1):
        """Return what goes to the other end beside a slot; `ues`: UEs that share the carrier."""
        block = self.sender.block() if may_send else None
        answers, self._answers = self._answers, []
        return marshal.dumps((slot, self.index, ues, self.snr_db, self.rsrp_dbm, answers, block))

    def keep(self, message):
        self._messages[message[0]] = message

    def receive(self, slot):
        """Take what the other end has sent beside slots up to this one."""
        for number in [one for one in self._messages if one <= slot]:
            *_, snr_db, rsrp_dbm, answers, block = self._messages.pop(number)
            self.sender.snr_db, self.peer_rsrp_dbm = snr_db, rsrp_dbm
            for answer in answers:
                self.sender.answered(*answer)
            if block is not None:
                answer, packets = self.receiver.receive(block, self.snr_db)
                self._answers.append(answer)
                for packet in packets:
                    self.tunnel.write(packet)


class Modem:
    """A modem over `carrier` that sends `period` over and over, `lead` slots ahead of what it gets,
    and ends each slot `advance` samples early."""

    def __init__(self, carrier, period, lead, advance):
        self.carrier, self._lead, self._advance = carrier, lead, advance
        self._beside = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._beside.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self._beside.bind(("0.0.0.0", PORT))
        self._beside.setblocking(False)
        self._signal = period * (2 * carrier.slot_samples // samples.PERIOD + 2)
        self._until = 0
        self._has_sent = False

    def exchange(self, connection):
        """Exchange blocks until the other end closes the connection."""
        stream = connection.makefile("rb")
        while (block := samples.read_block(stream)) is not None:
            first, payload = block
            # A UE begins with the time at which the gNB is.
            self._until = self._until or first
            self._read_beside()
            self.receive(first, payload)
            end = first + len(payload) // samples.SAMPLE_BYTES
            self._send_to(connection, self.slots_got(end) + self._lead)

    def _send_to(self, connection, slots):
        """Send samples of so many slots, in blocks that end with one."""
        slot, advance = self.carrier.slot_samples, self._advance
        until = slots * slot - advance
        while self._until < until:
            end = self._until + slot - (self._until + advance) % slot
            self.send_beside((self._until + advance) // slot)
            self._send_block(connection, end)

    def _send_block(self, connection, end):
        begin = self._until % samples.PERIOD
        part = self._signal[begin * 4 : (begin + end - self._until) * 4]
        if not self._has_sent:
            part, self._has_sent = samples.FIRST_SAMPLE + part[len(samples.FIRST_SAMPLE) :], True
        samples.write_block(connection, self._until, part, self.carrier.antennas)
        self._until = end

    def _read_beside(self):
        while True:
            try:
                datagram, peer = self._beside.recvfrom(MOST_BYTES)
            except BlockingIOError:
                return
            self.keep(marshal.loads(datagram), peer)


class Gnb(Modem):
    """The gNB's modem; `tunnel_of(index)`: that of a UE's packets; `note(is_dl, index, slot, count)`
    is called for each new block of `count` bytes."""

    def __init__(self, carrier, tunnel_of, note):
        super().__init__(carrier, carrier.gnb_period(), LEAD_SLOTS["gnb"], 0)
        self._tunnel_of, self._note = tunnel_of, note
        self._peers = {}
        self.legs = {}

    def run(self, connection):
        # Speaks first, of one sample.
        self._send_block(connection, 1)
        self._send_to(connection, self._lead)
        self.exchange(connection)

    def slots_got(self, end):
        return -(-end // self.carrier.slot_samples)

    def keep(self, message, peer):
        index = message[1]
        if index not in self.legs:
            self.legs[index] = Leg(index, self.carrier.prb, self._tunnel_of(index))
        self._peers[index] = peer
        self.legs[index].keep(message)

    def receive(self, first, payload):
        levels = self.carrier.measure_ues(payload, self.legs)
        for (index, leg), measured in zip(self.legs.items(), levels, strict=True):
            if measured:
                leg.snr_db, leg.rsrp_dbm = measured
            slot = (first + ADVANCE + index * MORE_ADVANCE) // self.carrier.slot_samples
            before = leg.receiver.bytes
            leg.receive(slot)
            if count := leg.receiver.bytes - before:
                self._note(False, index, slot, count)

    def send_beside(self, slot):
        """The UEs that have packets take turns."""
        legs = list(self.legs.values())
        for leg in legs:
            leg.fetch()
        turn = slot % len(legs) if legs else 0
        waiting = [leg for leg in legs[turn:] + legs[:turn] if leg.sender.waits]
        served = waiting[0] if waiting and slot % PATTERN_SLOTS in DOWNLINK else None
        for leg in legs:
            before = leg.sender.bytes
            message = leg.message(slot, leg is served, len(legs))
            if count := leg.sender.bytes - before:
                self._note(True, leg.index, slot, count)
            self._beside.sendto(message, self._peers[leg.index])


class Ue(Modem):
    """The modem of UE number `index`, from 0 on; `heard(snr_db)` is called for each slot."""

    def __init__(self, index, carrier, heard):
        advance = ADVANCE + index * MORE_ADVANCE
        super().__init__(carrier, carrier.ue_period(index), LEAD_SLOTS["ue"], advance)
        self.leg = Leg(index, carrier.prb)
        self._heard = heard
        self._ues = 1

    def slots_got(self, end):
        return end // self.carrier.slot_samples

    def keep(self, message, _peer):
        self._ues = message[2]
        self.leg.keep(message)

    def receive(self, first, payload):
        if measured := self.carrier.measure_gnb(payload):
            self.leg.snr_db, self.leg.rsrp_dbm = measured
            self._heard(self.leg.snr_db)
        self.leg.receive(first // self.carrier.slot_samples)

    def send_beside(self, slot):
        """The UEs have the uplink's slots in turn."""
        self.leg.fetch()
        pattern, within = divmod(slot, PATTERN_SLOTS)
        turn = within in UPLINK and pattern * len(UPLINK) + UPLINK.index(within)
        may_send = within in UPLINK and turn % self._ues == self.leg.index
        self._beside.sendto(self.leg.message(slot, may_send), (GNB_ADDRESS, PORT))
