# SPDX-License-Identifier: Apache-2.0
"""What ccu and ddu share: problems, suggestions for unknown names, how a command ends."""
