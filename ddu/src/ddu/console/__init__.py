# SPDX-License-Identifier: Apache-2.0
"""The parts that ccu and ddu share: problems, suggestions for unknown names, command endings."""
