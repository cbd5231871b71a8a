# SPDX-License-Identifier: Apache-2.0
"""Impulse responses of QuaDRiGa: `coeff` and `delay` of its class qd_channel, in a MAT file.

`coeff` is complex, by receive antenna, transmit antenna, path and snapshot; `delay` is in seconds,
by path and snapshot, or with `individual_delays` as `coeff`. MATLAB keeps objects to itself: they
are written as variables (`coeff = h.coeff; delay = h.delay; save('cir.mat','coeff','delay','-v7')`)
or as one structure. The first antennas are taken.
"""

from __future__ import annotations

import resource
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from ccu.host.child import Child
from ccu.scenarios.sources import csv_table
from ccu.scenarios.sources.imported_scenario import ImportedScenario, ImportOptions
from ccu.scenarios.sources.impulse_response import sampled
from ccu.scenarios.sources.unpacked import need_small, too_large
from ddu.console.problems import refusal

_FIX = "write it by coeff = h.coeff; delay = h.delay; save('cir.mat', 'coeff', 'delay', '-v7')"
_AXES = 4
_COPIES = 4
"""A reader has the variables packed, unpacked, as numbers of 16 bytes, and as what it sends."""
_NO_MEMORY = "memory"


def read(file: Path, options: ImportOptions) -> ImportedScenario:
    """Return the link between the first antennas as radio."""
    coefficients, delays_s = _arrays(csv_table.readable(file))
    # MATLAB leaves out axes of length 1 at the end.
    coefficients = coefficients.reshape(*coefficients.shape, *[1] * (_AXES - coefficients.ndim))
    gains = coefficients[0, 0].T
    per_antenna = delays_s.ndim > 2 or delays_s.shape == coefficients.shape[:2] != gains.T.shape
    if per_antenna:
        delays_s = delays_s.reshape(*delays_s.shape, *[1] * (_AXES - delays_s.ndim))[0, 0]
    if delays_s.T.shape != gains.shape:
        rule = f"coeff has the shape {coefficients.shape}, and delay {delays_s.shape}"
        raise refusal(rule, _FIX, file=file)
    return sampled(file, options, gains, delays_s.T, "QuaDRiGa")


def _arrays(file: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return coeff and delay. A process of its own reads them: a damaged file can end scipy's
    reader by a segmentation fault, and a small one can unpack to any size. Raises RefusedError."""
    child = Child(_send_arrays)
    rule: str | None
    try:
        child.connection.send((file, _COPIES * csv_table.LARGEST_BYTES))
        rule, arrays = child.connection.recv()
    except (EOFError, OSError):
        rule, arrays = f"is not a MAT file (its reader {child.end()})", ()
    child.end()
    if rule == _NO_MEMORY:
        raise too_large(file)
    if rule is not None:
        raise refusal(rule, _FIX, file=file)
    coefficients, delays_s = arrays
    need_small(coefficients.nbytes + delays_s.nbytes, file)
    return coefficients, delays_s


def _send_arrays(connection: Connection) -> None:
    """Answer a file with the rule that it breaks, or None, and its arrays."""
    from scipy.io import loadmat

    file, more_bytes = connection.recv()
    _limit_memory(more_bytes)
    try:
        content: dict[str, Any] = loadmat(file)
        connection.send((None, _found(content)))
    except NotImplementedError:
        connection.send(("is a MAT file of version 7.3", ()))
    except MemoryError:
        connection.send((_NO_MEMORY, ()))
    except KeyError:
        connection.send(("there are no coeff and delay in it", ()))
    except Exception as error:  # It raises what its parser met.
        connection.send((f"is not a MAT file ({error})", ()))


def _limit_memory(more_bytes: int) -> None:
    """Let this process have so much more memory than it has."""
    data_pages = int(Path("/proc/self/statm").read_text().split()[5])
    most_bytes = data_pages * resource.getpagesize() + more_bytes
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (most_bytes, hard))


def _found(content: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return coeff and delay. Raises KeyError if they are not there."""
    for holder in (content, *filter(_is_structure, content.values())):
        if {"coeff", "delay"} <= _names(holder):
            coefficients, delays = (_value(holder, name) for name in ("coeff", "delay"))
            return np.asarray(coefficients, complex), np.asarray(delays, float)
    raise KeyError


def _is_structure(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.names is not None and value.size == 1


def _names(holder: Any) -> set[str]:
    return set(holder if isinstance(holder, dict) else holder.dtype.names)


def _value(holder: Any, name: str) -> Any:
    return holder[name] if isinstance(holder, dict) else holder[name].item()
