# SPDX-License-Identifier: Apache-2.0
"""The element types of numpy arrays that every layer passes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
UInt32 = npt.NDArray[np.uint32]
Bool = npt.NDArray[np.bool_]
Columns = Mapping[str, npt.NDArray[Any]]
"""A table's columns of equal length, by name."""
