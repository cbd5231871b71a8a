# SPDX-License-Identifier: Apache-2.0
"""Inputs and rewards of learned policies: one definition for policies and training."""
