# SPDX-License-Identifier: Apache-2.0
"""The user as whom a contained program runs."""

from __future__ import annotations

import os
import pwd
import stat
from pathlib import Path
from typing import NamedTuple

from ccu.host.contain import linux

_NOBODY = 65534


class User(NamedTuple):
    """A user, who has no other groups unless this process is the user's."""

    uid: int
    gid: int
    is_this_one: bool = False
    """Whether this process is the user's already."""

    def may_enter(self, folder: os.stat_result) -> bool:
        """Return whether the user may look into a folder that this process can."""
        if self.is_this_one:
            return True
        wanted = stat.S_IRUSR | stat.S_IXUSR
        if folder.st_uid != self.uid:
            wanted >>= 3 if folder.st_gid == self.gid else 6
        return folder.st_mode & wanted == wanted

    def reaches(self, path: Path) -> bool:
        """Return whether the user may enter all folders on the way to a path."""
        return all(self.may_enter(folder.stat()) for folder in path.parents)

    def become(self) -> None:
        """Change this process to the user, without capabilities for what it executes."""
        if os.geteuid() == 0:
            linux.drop_bounding_set()
        if not self.is_this_one:
            os.setgroups([])
            os.setresgid(self.gid, self.gid, self.gid)
            os.setresuid(self.uid, self.uid, self.uid)
        linux.gain_no_privileges()


def chosen(*, but_root: bool = True) -> User:
    """Return this user; for root, unless it is to stay root, the one who called sudo, or nobody."""
    if os.geteuid() or not but_root:
        return User(os.geteuid(), os.getegid(), is_this_one=True)
    uid, gid = os.environ.get("SUDO_UID", ""), os.environ.get("SUDO_GID", "")
    if uid.isdigit() and gid.isdigit() and int(uid):
        return User(int(uid), int(gid))
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        return User(_NOBODY, _NOBODY)
    return User(nobody.pw_uid, nobody.pw_gid)
