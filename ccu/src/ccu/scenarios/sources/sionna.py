# SPDX-License-Identifier: Apache-2.0
"""Impulse responses of Sionna: what `a, tau = paths.cir(..., out_type="numpy")` of Sionna RT
returns, written by `numpy.savez("cir.npz", a=a, tau=tau)`.

`a` is complex, by receiver, its antenna, transmitter, its antenna, path and time step; `tau` is in
seconds, by receiver, transmitter and path (synthetic arrays), or with the antennas as `a`. Channel
models of Sionna put a batch before both: of one, it is left out. Paths that do not exist have a
negative delay. The first transmitter and the first antennas are taken, and receiver `--run`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ccu.scenarios.sources import csv_table
from ccu.scenarios.sources.imported_scenario import ImportedScenario, ImportOptions
from ccu.scenarios.sources.impulse_response import sampled
from ccu.scenarios.sources.unpacked import converted, need_small_arrays
from ddu.console.problems import refusal

_FIX = 'write it by numpy.savez("cir.npz", a=a, tau=tau), of a, tau = paths.cir(out_type="numpy")'
_GAIN_AXES = 6
_DELAY_AXES = (3, 5)


def read(file: Path, options: ImportOptions) -> ImportedScenario:
    """Return the link from the first transmitter to a receiver as radio."""
    a, tau = _arrays(csv_table.readable(file))
    if a.ndim == _GAIN_AXES + 1 and len(a) == len(tau) == 1:
        a, tau = a[0], tau[0]
    if (
        a.ndim != _GAIN_AXES
        or tau.ndim not in _DELAY_AXES
        or tau.shape != (a.shape[:5] if tau.ndim == _DELAY_AXES[1] else a.shape[0:5:2])
    ):
        rule = f"a has the shape {a.shape}, and tau {tau.shape}: they are not those of paths.cir()"
        raise refusal(rule, _FIX, file=file)
    receiver = options.run or 0
    if not 0 <= receiver < len(a):
        rule = f"there is no receiver {receiver}: it has {len(a)}, counted from 0"
        raise refusal(rule, "choose another", file=file, key="--run")
    gains = a[receiver, 0, 0, 0].T
    delays_s = tau[receiver, 0, 0, 0] if tau.ndim == _DELAY_AXES[1] else tau[receiver, 0]
    return sampled(file, options, gains, np.broadcast_to(delays_s, gains.shape), "Sionna")


def _arrays(file: Path) -> tuple[np.ndarray, np.ndarray]:
    try:
        need_small_arrays(file, "a", "tau")
        with np.load(file, allow_pickle=False) as content:
            return converted(file, content["a"], complex), converted(file, content["tau"], float)
    except KeyError as error:
        raise refusal(f"there is no array {error}", _FIX, file=file) from None
    except Exception as error:  # numpy raises what zipfile and Python's own parser met.
        raise refusal(f"is not a file of numpy's arrays ({error})", _FIX, file=file) from None
