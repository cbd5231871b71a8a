# SPDX-License-Identifier: Apache-2.0
"""Errors of the machine, not of the input: exit code 1, and how to fix them."""

from __future__ import annotations

import errno

_FREE = "free some space, then repeat the command"
FIXES: dict[int | None, str] = {
    errno.ENOSPC: _FREE,
    errno.EDQUOT: _FREE,
    errno.EIO: "look at the disk (`dmesg`)",
    errno.EMFILE: "raise the limit of open files (`ulimit -n`)",
    errno.ENFILE: "end some programs, then repeat the command",
    errno.ENOMEM: "free some memory, then repeat the command",
}
"""The fix by the number of the error."""
