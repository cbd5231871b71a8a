# SPDX-License-Identifier: Apache-2.0
"""The rows of a table that belong to one flow, for many flows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

_NONE = np.zeros(0, dtype=np.int64)


class RowsByKey:
    """An index of a table, so that each flow costs its own rows and not all of them.

    Raises KeyError when the table does not have these columns.
    """

    def __init__(self, table: pd.DataFrame, columns: Sequence[str]) -> None:
        self.table = table
        self._rows = table.groupby(list(columns), sort=False, observed=True).indices

    def of(self, key: tuple[object, ...]) -> pd.DataFrame:
        """Return the rows whose columns have these values, in the table's order."""
        return self.table.iloc[self._rows.get(key, _NONE)]
