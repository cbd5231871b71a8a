# SPDX-License-Identifier: Apache-2.0
"""This machine: processes, namespaces, programs, disk, and what a run makes and removes."""
