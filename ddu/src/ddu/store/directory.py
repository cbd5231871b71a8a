# SPDX-License-Identifier: Apache-2.0
"""The directory of a store on this machine, with its address and passwords."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from ddu.console.authority import authority
from ddu.errors import StoreError, StoreRefused
from ddu.run import durable

ADMIN, OWNER, READER, DATABASE = "ddu_admin", "ddu", "ddu_reader", "testbed"
"""The superuser, for `ddu store up` and `restore` alone; the publisher, who owns the database;
the role that may only read, as Grafana does; and the database."""

_SECRET = {ADMIN: "admin", OWNER: "owner", READER: "reader"}
PASSWORDS = (*_SECRET.values(), "grafana-admin")


Kind = Literal["private", "docker"]


@dataclass(frozen=True)
class Address:
    """The address of the store; written to store.json, without passwords."""

    kind: Kind
    host: str = "127.0.0.1"
    port: int = 15432


class StoreDirectory:
    """A directory with what a store needs to start again."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.data = directory / "data"
        self.log = directory / "log" / "postgresql.log"

    def address(self) -> Address:
        """Raises StoreError when no store was ever brought up here."""
        file = self.directory / "store.json"
        try:
            return Address(**json.loads(file.read_bytes()))
        except (FileNotFoundError, NotADirectoryError):
            raise StoreRefused(
                "no store here",
                "make one with `ddu store up`, or name another with --store URL",
                file=self.directory,
            ) from None
        except PermissionError:
            raise StoreError(
                "not readable by this user",
                "use sudo, or a store of your own (`ddu store up`)",
                file=file,
            ) from None
        except (ValueError, TypeError) as error:
            raise StoreError(f"not what `ddu store up` writes ({error})", file=file) from None

    def wanted(self, kind: Kind, host: str | None, port: int | None) -> Address:
        """Return the address, with the last value for each part that is not given."""
        try:
            before = self.address()
        except StoreError:
            before = Address(kind)
        return Address(kind, host or before.host, port or before.port)

    def remember(self, address: Address) -> None:
        """Writes store.json, whole or not at all."""
        text = json.dumps(asdict(address), indent=2) + "\n"
        durable.replace_text(self.directory / "store.json", text)

    def password(self, whose: str) -> str:
        """Return one of PASSWORDS. Raises StoreError if this user may not read it."""
        file = self.directory / "secrets" / whose
        try:
            return file.read_text().strip()
        except OSError as error:
            raise StoreError(
                error.strerror or str(error), "make it with `ddu store up`", file=file
            ) from None

    def make_passwords(self) -> dict[str, str]:
        """Make missing passwords and return the new ones, which are printed once.

        The directory keeps other users out; the files can be read in it, because containers that
        mount one run as users of their own.
        """
        directory = self.directory / "secrets"
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            made = {}
            for whose in PASSWORDS:
                file = directory / whose
                if not file.exists():
                    made[whose] = secrets.token_urlsafe(24)
                    durable.replace_text(file, made[whose] + "\n")
                    file.chmod(0o644)
        except OSError as error:
            raise StoreRefused(f"cannot be written ({error.strerror})", file=directory) from None
        return made

    def url(self, role: str = OWNER, database: str = DATABASE) -> str:
        """Return the connection string of a role of the store."""
        address = self.address()
        login = f"{role}:{self.password(_SECRET[role])}"
        return f"postgresql://{login}@{authority(address.host, address.port)}/{database}"


def default_directory() -> Path:
    """Return $DDU_STORE_DIR, else a directory outside of any checkout.

    PostgreSQL does not run as root, and the user that root drops to cannot enter root's home.
    """
    named = os.environ.get("DDU_STORE_DIR")
    if named:
        return Path(named).absolute()
    if os.geteuid() == 0:
        return Path("/var/lib/ddu/store")
    home = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return home / "ddu" / "store"


def locate(url: str | None) -> str:
    """Return --store URL, else $DDU_STORE, else the store that `ddu store up` made."""
    return url or os.environ.get("DDU_STORE") or StoreDirectory(default_directory()).url()
