# SPDX-License-Identifier: Apache-2.0
"""Ranges of a byte stream, to match packets that offloads cut and merge differently."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ddu.schema.arrays import Int

Ranges = tuple[Int, Int]
"""Begins and ends."""


def union(begin: Int, end: Int) -> Ranges:
    """Return the same bytes as disjoint ranges in ascending order."""
    keep = end > begin
    begin, end = begin[keep], end[keep]
    if not len(begin):
        return begin, end
    if not (begin[1:] >= begin[:-1]).all():
        order = np.argsort(begin, kind="stable")
        begin, end = begin[order], end[order]
    reached = np.maximum.accumulate(end)
    opens = np.ones(len(begin), dtype=bool)
    np.greater(begin[1:], reached[:-1], out=opens[1:])
    closes = np.append(opens[1:], True)
    return begin[opens], reached[closes]


def merged(one: Ranges, other: Ranges) -> Ranges:
    """Return the bytes that are in either."""
    return union(np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]]))


def holes(ranges: Ranges, reached: int) -> Ranges:
    """Return the bytes of [0, `reached`) that are in none of the disjoint ascending ranges."""
    begin = np.concatenate([[0], ranges[1]])
    end = np.concatenate([ranges[0], [reached]])
    keep = end > begin
    return begin[keep], np.minimum(end[keep], reached)


def overlaps(ranges: Ranges, begin: Int, end: Int) -> npt.NDArray[np.bool_]:
    """Whether each [begin, end) has a byte in one of the disjoint ascending ranges."""
    if not len(ranges[0]):
        return np.zeros(len(begin), dtype=bool)
    # The first range to end behind `begin` is the first that can share a byte with it.
    index = np.searchsorted(ranges[1], begin, side="right")
    starts = np.append(ranges[0], np.iinfo(np.int64).max)
    shared: npt.NDArray[np.bool_] = starts[index] < end
    return shared


def contains(ranges: Ranges, byte: Int) -> npt.NDArray[np.bool_]:
    """Whether each byte lies in one of the disjoint ascending ranges."""
    begin, end = ranges
    if not len(begin):
        return np.zeros(len(byte), dtype=bool)
    index = np.searchsorted(begin, byte, side="right") - 1
    inside: npt.NDArray[np.bool_] = (index >= 0) & (byte < end[np.maximum(index, 0)])
    return inside


def distinct(*numbers: Int) -> Int:
    """Return the numbers without repetition, ascending.

    Like `np.unique`, which takes 100 times as long for millions of numbers (numpy 2.4).
    """
    ordered = np.sort(np.concatenate(numbers))
    is_first = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return ordered[is_first]


@dataclass(frozen=True)
class Pieces:
    """Packets cut at every boundary that any of them has, so that pieces are equal or disjoint.

    `cuts` are the boundaries; piece i is [cuts[i], cuts[i+1]). `packet` and `piece` list, in the
    order of capture, which packet carried which piece.
    """

    cuts: Int
    packet: Int
    piece: Int

    @property
    def sizes(self) -> Int:
        return np.diff(self.cuts)


def cut(begin: Int, end: Int, boundaries: Int) -> Pieces:
    """Cut the packets' ranges at `boundaries`, which include the packets' own.

    As many pieces as packets when nothing overlaps, so that time and memory stay linear.
    """
    first = np.searchsorted(boundaries, begin)
    count = np.searchsorted(boundaries, end) - first
    packet = np.repeat(np.arange(len(begin), dtype=np.int64), count)
    start_of_packet = np.cumsum(count) - count
    within = np.arange(len(packet), dtype=np.int64) - start_of_packet[packet]
    return Pieces(boundaries, packet, first[packet] + within)
