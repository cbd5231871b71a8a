# SPDX-License-Identifier: Apache-2.0
"""The command `ccu`: one module a subcommand."""
