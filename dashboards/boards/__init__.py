# SPDX-License-Identifier: Apache-2.0
"""Grafana's dashboards as code: what they show is in one file each, how in `panels`."""
