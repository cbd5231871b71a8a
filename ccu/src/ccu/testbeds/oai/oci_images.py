# SPDX-License-Identifier: Apache-2.0
"""OCI images for LXC: their source, their command, and one unpacked base for each."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ccu.spec.errors import RunFailed
from ddu.console.problems import refusal

FOLDER = Path("/var/lib/ccu/lxc")
"""The folder of containers and bases; `lxc-ls -P /var/lib/ccu/lxc` lists them."""
LAYOUTS_VARIABLE = "OAI_OCI"
PACKAGES = {"lxc-create": "lxc", "skopeo": "skopeo", "umoci": "umoci", "jq": "jq"}


@dataclass(frozen=True)
class OciImage:
    source: str
    """The source in skopeo's notation: oci:/folder/name:tag, or docker://registry/name:tag."""
    layers: str
    """The digest of its layers: images that differ in configuration only share a base."""
    command: tuple[str, ...]
    """The entrypoint and command of the image's configuration."""
    entrypoint: tuple[str, ...]
    environment: tuple[str, ...]
    working_folder: str

    @property
    def base(self) -> str:
        return f"ccu-base-{self.layers[:16]}"


def source_of(image: str) -> str:
    """Return a local layout $OAI_OCI/<name>:<tag> if that variable is set, else the registry."""
    tagged, _, digest = image.partition("@")
    folder, slash, last = tagged.rpartition("/")
    name, _, tag = last.partition(":")
    if layouts := os.environ.get(LAYOUTS_VARIABLE):
        return f"oci:{layouts}/{name}:{tag}"
    # skopeo takes a tag or a digest, not both.
    exact = f"{folder}{slash}{name}@{digest}" if digest else image
    if "." not in exact.partition("/")[0]:  # no registry
        exact = f"docker.io/{'' if slash else 'library/'}{exact}"
    return f"docker://{exact}"


def inspect(image: str) -> OciImage:
    """Return the image. Raises RefusedError with the command that fetches it if it is missing."""
    return _inspect(image, source_of(image))


@cache
def _inspect(image: str, source: str) -> OciImage:
    image_info = json.loads(_skopeo("inspect", "--config", source, image=image))
    config, layers = image_info["config"], image_info["rootfs"]["diff_ids"]
    entrypoint = tuple(config.get("Entrypoint") or ())
    return OciImage(
        source,
        hashlib.sha256(" ".join(layers).encode()).hexdigest(),
        entrypoint + tuple(config.get("Cmd") or ()),
        entrypoint,
        tuple(config.get("Env") or ()),
        config.get("WorkingDir") or "/",
    )


def _skopeo(*words: str, image: str) -> str:
    completed = subprocess.run(["skopeo", *words], capture_output=True, text=True)
    if completed.returncode != 0:
        layouts = os.environ.get(LAYOUTS_VARIABLE, "/var/lib/ccu/oci")
        name = image.rpartition("/")[2]
        raise refusal(
            f"{image}: not available",
            f"type: {_source(image)} oci:{layouts}/{name} && export {LAYOUTS_VARIABLE}={layouts}",
        )
    return completed.stdout


def _source(image: str) -> str:
    """Return the beginning of the command that copies the image; our own is in no registry."""
    if image.startswith("ccu-traffic"):
        build = "docker compose --profile rfsim build data-network"
        return f"{build} && skopeo copy docker-daemon:{image}"
    return f"skopeo copy docker://{image}"


def base_of(image: OciImage) -> Path:
    """Return the unpacked root file system, made by lxc-create once per image. Raises RunFailed."""
    root = FOLDER / image.base / "rootfs"
    if (FOLDER / image.base / "complete").exists():
        return root
    FOLDER.mkdir(parents=True, exist_ok=True)
    subprocess.run(["lxc-destroy", "-n", image.base, "-P", FOLDER, "-f"], capture_output=True)
    command = ["lxc-create", "-n", image.base, "-P", str(FOLDER), "-t", "oci", "--"]
    completed = subprocess.run([*command, "-u", image.source], capture_output=True, text=True)
    if completed.returncode != 0:
        lines = completed.stderr.strip().splitlines()[-4:]
        raise RunFailed("containers", "lxc-create: " + "\n  ".join(lines))
    (FOLDER / image.base / "complete").touch()
    return root
