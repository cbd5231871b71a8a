# SPDX-License-Identifier: Apache-2.0
"""One direction of the stand-ins' MAC: packets in blocks, whose MCS and losses the samples' SNR decides.

MCS m decodes from m - 5 dB on, and carries three quarters of what Shannon's formula allows there. A block
that was not decoded is repeated, up to four transmissions in all, whose SNRs add up; packets of one that
never was are lost, as in RLC's unacknowledged mode.
"""

import math
from collections import deque

ROUNDS = 4
MOST_MCS = 28
# Less than the SNR that was reported: it is some slots old.
MARGIN_DB = 1.0
LONGEST_QUEUE = 1000
RESOURCE_ELEMENTS = 12 * 12


def needed_db(mcs):
    return mcs - 5.0


def mcs_for(snr_db):
    return min(max(math.floor(snr_db - MARGIN_DB + 5.0), 0), MOST_MCS)


def block_bytes(mcs, prb):
    bits = 0.75 * math.log2(1 + 10 ** (needed_db(mcs) / 10))
    return int(bits * RESOURCE_ELEMENTS * prb / 8)


class Counters:
    """Counters of one direction, of blocks and their bytes."""

    def __init__(self):
        self.mcs = 0
        self.rounds = [0] * ROUNDS
        self.errors = 0
        self.bytes = 0

    @property
    def bler(self):
        """Return the share of blocks that were sent a second time."""
        return self.rounds[1] / max(self.rounds[0], 1)


class Sender(Counters):
    """Turns packets into blocks, one a slot. `snr_db` is the receiver's latest report."""

    def __init__(self, prb):
        super().__init__()
        self.prb = prb
        self.snr_db = 0.0
        self._queue = deque()
        self._number = 0
        self._blocks = 0
        self._unanswered = {}
        self._again = deque()

    def put(self, packet):
        if len(self._queue) < LONGEST_QUEUE:
            self._queue.append([self._number, packet, len(packet)])
            self._number += 1

    @property
    def waits(self):
        """Whether there is something to send."""
        return bool(self._again or self._queue)

    def block(self):
        """Return (number, MCS, round, segments) for the next slot, or None. A segment is (number of its
        packet, the packet if it is the last)."""
        if self._again:
            number = self._again.popleft()
        elif self._queue:
            number = self._blocks
            self._blocks += 1
            self.mcs = mcs_for(self.snr_db)
            self._unanswered[number] = [
                self.mcs,
                0,
                self._segments(block_bytes(self.mcs, self.prb)),
            ]
        else:
            return None
        mcs, transmission, segments = self._unanswered[number]
        self.rounds[transmission] += 1
        return number, mcs, transmission, segments

    def _segments(self, left):
        segments = []
        self.bytes += left
        while left > 0 and self._queue:
            first = self._queue[0]
            taken = min(left, first[2])
            left -= taken
            first[2] -= taken
            segments.append((first[0], first[1] if first[2] == 0 else b""))
            if first[2] == 0:
                self._queue.popleft()
        return segments

    def answered(self, number, decoded):
        block = self._unanswered.get(number)
        if block is None:
            return
        block[1] += 1
        if decoded or block[1] == ROUNDS:
            self.errors += not decoded
            del self._unanswered[number]
        else:
            self._again.append(number)


class Receiver(Counters):
    """Decodes blocks, and gives packets out in their order."""

    def __init__(self, prb):
        super().__init__()
        self.prb = prb
        self._snr = {}
        self._decided = {}
        self._next = 0
        self._broken = set()

    def receive(self, block, snr_db):
        """Return (answer to the sender, packets that are complete now)."""
        number, mcs, transmission, segments = block
        self.mcs = mcs
        self.rounds[transmission] += 1
        self._snr[number] = self._snr.get(number, 0.0) + 10 ** (snr_db / 10)
        decoded = 10 * math.log10(self._snr[number]) >= needed_db(mcs)
        if decoded or transmission + 1 == ROUNDS:
            del self._snr[number]
            self._decided[number] = segments
            if decoded:
                self.bytes += block_bytes(mcs, self.prb)
            else:
                self.errors += 1
                self._broken.update(packet for packet, _ in segments)
        packets = []
        while self._next in self._decided:
            for packet, content in self._decided.pop(self._next):
                if content and packet not in self._broken:
                    packets.append(content)
            self._next += 1
        return (number, decoded), packets
