# SPDX-License-Identifier: Apache-2.0
"""What the parts of the dashboards call each other by."""

from __future__ import annotations

STORE = {"type": "grafana-postgresql-datasource", "uid": "testbed-store"}
"""As provisioning/datasources/store.yml defines it."""

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
"""Reminis and what Linux has; each has one colour, in ddu.report.palette."""

DELAY_CLASSES_MS = (20, 40, 100)
"""Of applications: what is above is too late for them (Hercules; 3GPP TS 22.261 has the like)."""
