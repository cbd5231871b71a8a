# SPDX-License-Identifier: Apache-2.0
"""The element types of numpy arrays that every layer passes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
UInt32 = npt.NDArray[np.uint32]
Bool = npt.NDArray[np.bool_]
Columns = Mapping[str, npt.NDArray[Any]]
"""A table's columns of equal length, by name."""


def floats_of(table: pd.DataFrame, name: str) -> Float:
    """Return a column; NaN where the value, or the whole column, is missing."""
    if name not in table:
        return np.full(len(table), np.nan)
    return table[name].to_numpy(dtype="float64", na_value=np.nan)
