# SPDX-License-Identifier: Apache-2.0
"""Faults of the machine, injected one at a time: `make faults`, or a sample (`--sample`).

A shim (shim.c) fails one call of a command to the C library, or kills the command at it. Afterwards
its results are whole or absent, its message is clear, and the next command works.
"""
