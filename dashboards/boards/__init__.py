# SPDX-License-Identifier: Apache-2.0
"""Grafana dashboards as code: one file for each dashboard; `panels` has the kinds of panels."""
