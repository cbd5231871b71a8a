# SPDX-License-Identifier: Apache-2.0
"""Files that root makes for the user who called sudo."""

from __future__ import annotations

import errno
import os
from pathlib import Path

_NO_OWNERS = (errno.EPERM, errno.EOPNOTSUPP)
"""The answers of file systems whose files have no owner to change: FAT, exFAT, some of networks."""


def make_directory(directory: Path) -> None:
    """Make a directory, and those above it that are missing, for the user who called sudo.

    Raises OSError.
    """
    new = [one for one in (directory, *directory.parents) if not one.exists()]
    directory.mkdir(parents=True)
    give_to_sudo_user(new[-1])


def give_to_sudo_user(directory: Path) -> None:
    """Change the owner of a directory, and of what is in it, to the user who called sudo.

    Nothing changes on a file system without owners. Raises OSError.
    """
    uid, gid = os.environ.get("SUDO_UID", ""), os.environ.get("SUDO_GID", "")
    if os.geteuid() == 0 and uid.isdigit() and gid.isdigit():
        for path in (directory, *directory.rglob("*")):
            try:
                os.chown(path, int(uid), int(gid), follow_symlinks=False)
            except OSError as error:
                if error.errno not in _NO_OWNERS:
                    raise
