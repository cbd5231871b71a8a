# SPDX-License-Identifier: Apache-2.0
"""ddu: from a run's raw captures to tables, figures and a report.

>>> ddu.open_run("runs/…").aligned       # the aligned table, a DataFrame
"""

from ddu.api import Run, open_run

__all__ = ["Run", "open_run"]
