# SPDX-License-Identifier: Apache-2.0
"""The command `ddu`: one module a group of subcommands."""
