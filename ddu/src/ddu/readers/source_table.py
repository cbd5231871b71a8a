# SPDX-License-Identifier: Apache-2.0
"""A source of a run as a table, with what is known of its clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd


@dataclass(frozen=True)
class SourceTable:
    """A table in UTC (or without instants), and how its times became UTC, for summary.json."""

    table: pd.DataFrame
    alignment: Mapping[str, Any]
