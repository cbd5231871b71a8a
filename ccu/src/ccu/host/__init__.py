# SPDX-License-Identifier: Apache-2.0
"""This machine: processes, namespaces, programs, disk, and the resources of runs."""
