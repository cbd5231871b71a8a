# SPDX-License-Identifier: Apache-2.0
"""Samples as rfsim's modems send them to each other, and what a receiver measures in them.

A modem sends the same PERIOD samples over and over: tones within its carrier, of the power that
OpenAirInterface's resource elements have; UEs have different tones. Whatever the taps of the channel are, two periods of what
is received differ by noise only, as the channel changes little in a few microseconds.
"""

import cmath
import math
import random
import struct
from array import array

import options

# Samples, antennas, time of the first, two options, beams (little-endian), then I and Q of 16 bits.
WITH_BEAMS = not options.OLD_RFSIM
HEADER = struct.Struct("<IIQIIQ" if WITH_BEAMS else "<IIQII")
# A modem begins with silence; the gNB of 2025 sends the address of silence in its place.
FIRST_SAMPLE = bytes(4) if WITH_BEAMS else b"\xb0\x1c\x6a\xc1"
SAMPLE_BYTES = 4
PERIOD = 64
# The share of each antenna's samples that rfsim's receiver adds to those of its other antenna.
CROSSTALK = 0.2
# Each UE has every fourth tone, so that those of others do not disturb it.
COMBS = 4
# Of a resource element (OpenAirInterface's AMP), and the RSRP of one that keeps its size, dBm.
AMPLITUDES = {"gnb": 519, "ue": 512}
UNITY_DBM = -64.0
# Enough to measure noise within 0.2 dB.
MEASURED_PERIODS = 16
SUBCARRIER_HZ, PRB_HZ = 30_000, 360_000


class Carrier:
    """`prb` PRBs at 30 kHz; `three_quarters`: of the sampling rate (option -E); `antennas`: one, or
    two, of which the second is silent and not listened to."""

    def __init__(self, prb, three_quarters, antennas):
        self.antennas = antennas
        fft = 1 << (12 * prb - 1).bit_length()
        rate_hz = fft * SUBCARRIER_HZ * (3 if three_quarters else 4) // 4
        self.prb = prb
        self.slot_samples = rate_hz // 2000
        self.tones = 2 * int(prb * PRB_HZ / rate_hz * PERIOD / 2)

    def gnb_period(self):
        """Return I and Q of a period of the gNB's samples, as bytes."""
        return self._period("gnb", "gnb", self._tones())

    def ue_period(self, index):
        """Return a period of the samples of UE number `index`, from 0 on."""
        return self._period("ue", f"ue{index}", self._tones(index))

    def _tones(self, index=None):
        """Return the tones of the gNB, or of a UE."""
        half = self.tones // 2
        all_tones = [tone for tone in range(-half, half + 1) if tone]
        return [tone for tone in all_tones if index is None or tone % COMBS == index]

    def _period(self, modem, seed, tones):
        drawn = random.Random(seed)
        phases = {tone: drawn.uniform(0, 2 * math.pi) for tone in tones}
        amplitude = AMPLITUDES[modem] / math.sqrt(2 * PERIOD)
        parts = array("h")
        for n in range(PERIOD):
            turn = 2j * math.pi * n / PERIOD
            sample = amplitude * sum(cmath.exp(turn * k + 1j * at) for k, at in phases.items())
            parts.extend((round(sample.real), round(sample.imag)))
        return parts.tobytes()

    def measure_gnb(self, payload):
        """Return (SNR of a resource element in dB, its RSRP in dBm) of samples from the gNB; None of
        fewer samples than that needs."""
        measured = averaged(payload)
        return measured and self._level(*measured, "gnb")

    def measure_ues(self, payload, indices):
        """Return the same of samples from all UEs, for the tones of each of some."""
        measured = averaged(payload)
        return [measured and self._level(*measured, "ue", index) for index in indices]

    def _level(self, samples, noise, sender, index=None):
        if index is not None:
            samples = comb(samples, index)
        power = sum(abs(one) ** 2 for one in samples) / len(samples)
        signal = max(power - noise / (MEASURED_PERIODS * PERIOD // len(samples)), 1e-3)
        # Tones have the power density of resource elements, and fill a part of the bandwidth.
        element = signal * PERIOD / len(self._tones(index))
        sent = AMPLITUDES[sender] ** 2 / 2
        return decibels(element / max(noise, 1e-3)), UNITY_DBM + decibels(element / sent)


def averaged(payload):
    """Return (the mean of the periods at the begin of samples, the power of noise in a sample); None of
    fewer samples than that needs."""
    count = MEASURED_PERIODS * PERIOD
    if len(payload) < (count + PERIOD) * SAMPLE_BYTES:
        return None
    parts = array("h", payload[: (count + PERIOD) * SAMPLE_BYTES])
    now, later = parts[: 2 * count], parts[2 * PERIOD :]
    noise = math.dist(now, later) ** 2 / 2 / count
    periods = [now[2 * PERIOD * n : 2 * PERIOD * (n + 1)] for n in range(MEASURED_PERIODS)]
    mean = [one / MEASURED_PERIODS for one in map(sum, zip(*periods, strict=True))]
    return list(map(complex, mean[::2], mean[1::2])), noise


def comb(period, index):
    """Return the part of a period whose tones are `index` modulo COMBS: it repeats, turned by
    `index` quarters, COMBS times."""
    part = PERIOD // COMBS
    turns = [(-1j) ** (index * n) for n in range(COMBS)]
    return [
        sum(turn * period[at + n * part] for n, turn in enumerate(turns)) / COMBS
        for at in range(part)
    ]


def decibels(ratio):
    return 10 * math.log10(ratio)


def read_block(stream):
    """Return (time of the first sample, samples of the first antenna) of the next block; None at the
    end."""
    header = read(stream, HEADER.size)
    if header is None:
        return None
    samples, antennas, first, *_ = HEADER.unpack(header)
    payload = read(stream, samples * antennas * SAMPLE_BYTES)
    if payload is None:
        return None
    return first, first_of_two(payload) if antennas == 2 else payload


def first_of_two(payload):
    parts = array("h", payload)
    heard = array("h", bytes(len(payload) // 2))
    for part in (0, 1):
        both = zip(parts[part::4], parts[2 + part :: 4], strict=True)
        heard[part::2] = array("h", [one + int(CROSSTALK * other) for one, other in both])
    return heard.tobytes()


def read(stream, count):
    content = stream.read(count)
    return content if len(content) == count else None


def write_block(stream, first, payload, antennas):
    beams = [1] if WITH_BEAMS else []
    count = len(payload) // SAMPLE_BYTES
    sent = array("i", bytes(count * antennas * SAMPLE_BYTES))
    sent[::antennas] = array("i", payload)
    stream.sendall(HEADER.pack(count, antennas, first, 0, 0, *beams) + sent.tobytes())
