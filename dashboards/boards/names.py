# SPDX-License-Identifier: Apache-2.0
"""Names that several modules of the dashboards share."""

from __future__ import annotations

STORE = {"type": "grafana-postgresql-datasource", "uid": "testbed-store"}
"""The data source that provisioning/datasources/store.yml defines."""

UID = {
    "run": "testbed-run",
    "compare": "testbed-compare",
    "campaign": "testbed-campaign",
    "radio": "testbed-radio",
    "reminis": "testbed-reminis",
    "live": "testbed-live",
    "health": "testbed-health",
}
TAG = "5g-testbed"

# fmt: off
CONGESTION_CONTROLS = (
    "reminis", "cubic", "bbr", "reno", "vegas", "yeah", "bic", "cdg", "dctcp", "highspeed", "htcp", "hybla",
    "illinois", "lp", "nv", "scalable", "veno", "westwood",
)
# fmt: on
"""Reminis and those of Linux; ddu.report.palette gives each one colour."""

DELAY_CLASSES_MS = (20, 40, 100)
"""Highest delays that classes of applications tolerate (Hercules; similar values in 3GPP TS 22.261)."""
