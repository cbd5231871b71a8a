# SPDX-License-Identifier: Apache-2.0
"""Samples as rfsim's modems send them to each other, and what a receiver measures in them.

A modem sends the same PERIOD samples over and over: tones within its carrier, of the power that
OpenAirInterface's resource elements have. Whatever the taps of the channel are, two periods of what
is received differ by noise only, as the channel changes little in a few microseconds.
"""

import cmath
import math
import operator
import random
import struct
from array import array

# Samples, antennas, time of the first, two options, beams (little-endian), then I and Q of 16 bits.
HEADER = struct.Struct("<IIQIIQ")
SAMPLE_BYTES = 4
PERIOD = 64
# Of a resource element (OpenAirInterface's AMP), and the RSRP of one that keeps its size, dBm.
AMPLITUDES = {"gnb": 519, "ue": 512}
UNITY_DBM = -64.0
# Enough to measure noise within 0.2 dB.
MEASURED_PERIODS = 16
SUBCARRIER_HZ, PRB_HZ = 30_000, 360_000


class Carrier:
    """`prb` PRBs at 30 kHz; `three_quarters`: of the sampling rate (option -E)."""

    def __init__(self, prb, three_quarters):
        fft = 1 << (12 * prb - 1).bit_length()
        rate_hz = fft * SUBCARRIER_HZ * (3 if three_quarters else 4) // 4
        self.prb = prb
        self.slot_samples = rate_hz // 2000
        self.tones = 2 * int(prb * PRB_HZ / rate_hz * PERIOD / 2)

    def period(self, modem):
        """Return I and Q of a period's samples, as bytes."""
        drawn = random.Random(modem)
        half = self.tones // 2
        phases = {tone: drawn.uniform(0, 2 * math.pi) for tone in range(-half, half + 1) if tone}
        amplitude = AMPLITUDES[modem] / math.sqrt(2 * PERIOD)
        parts = array("h")
        for n in range(PERIOD):
            turn = 2j * math.pi * n / PERIOD
            sample = amplitude * sum(cmath.exp(turn * k + 1j * at) for k, at in phases.items())
            parts.extend((round(sample.real), round(sample.imag)))
        return parts.tobytes()

    def measure(self, payload, sender):
        """Return (SNR of a resource element in dB, its RSRP in dBm) of samples from `sender`; None of fewer
        samples than that needs."""
        count = MEASURED_PERIODS * PERIOD
        if len(payload) < (count + PERIOD) * SAMPLE_BYTES:
            return None
        parts = array("h", payload[: (count + PERIOD) * SAMPLE_BYTES])
        now, later = parts[: 2 * count], parts[2 * PERIOD :]
        differences = list(map(operator.sub, now, later))
        noise = sum(map(operator.mul, differences, differences)) / 2 / count
        signal = max(sum(map(operator.mul, now, now)) / count - noise, 1e-3)
        # Tones have the power density of resource elements, and fill a part of the bandwidth.
        element = signal * PERIOD / self.tones
        sent = AMPLITUDES[sender] ** 2 / 2
        return decibels(element / max(noise, 1e-3)), UNITY_DBM + decibels(element / sent)


def decibels(ratio):
    return 10 * math.log10(ratio)


def read_block(stream):
    """Return (time of the first sample, its samples) of the next block; None at the end."""
    header = read(stream, HEADER.size)
    if header is None:
        return None
    samples, antennas, first, _, _, _ = HEADER.unpack(header)
    payload = read(stream, samples * antennas * SAMPLE_BYTES)
    return None if payload is None else (first, payload)


def read(stream, count):
    content = stream.read(count)
    return content if len(content) == count else None


def write_block(stream, first, payload):
    stream.sendall(HEADER.pack(len(payload) // SAMPLE_BYTES, 1, first, 0, 0, 1) + payload)
