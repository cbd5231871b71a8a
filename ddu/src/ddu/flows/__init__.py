# SPDX-License-Identifier: Apache-2.0
"""Data flows as the captures show them: what was sent, acknowledged and lost, and when."""
