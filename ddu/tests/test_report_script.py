# SPDX-License-Identifier: Apache-2.0
"""plotly.js is compressed once for all reports of a user."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from ddu.report import script

SCRIPT = b"plots();" * 1000


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Our folder for caches, of which plotly.js is a short one."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    original = tmp_path / "plotly.js"
    original.write_bytes(SCRIPT)
    monkeypatch.setattr(script, "_plotly", lambda: original)
    yield tmp_path / "cache" / "ddu"
    script.compressed_plotly.cache_clear()


def compressed() -> bytes:
    """Return what another process would get."""
    script.compressed_plotly.cache_clear()
    return script.compressed_plotly()


def test_what_was_compressed_once_is_taken(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = compressed()
    assert gzip.decompress(first) == SCRIPT
    (kept,) = cache.iterdir()
    assert kept.stat().st_mode & 0o777 == 0o644
    monkeypatch.delattr(gzip, "compress")
    assert compressed() == first


@pytest.mark.parametrize("wrong", ["empty", "cut", "another"])
def test_what_is_no_copy_of_it_is_replaced(cache: Path, wrong: str) -> None:
    whole = compressed()
    (kept,) = cache.iterdir()
    contents = {"empty": b"", "cut": whole[:-1], "another": gzip.compress(b"an older plotly")}
    kept.write_bytes(contents[wrong])
    assert compressed() == whole
    assert kept.read_bytes() == whole
    assert list(cache.iterdir()) == [kept]


@pytest.mark.parametrize("place", ["cache", "cache/ddu"])
def test_no_cache_is_needed(cache: Path, tmp_path: Path, place: str) -> None:
    whole = compressed()
    (kept,) = cache.iterdir()
    kept.unlink()
    cache.rmdir()
    if place == "cache":
        cache.parent.rmdir()
    (tmp_path / place).write_text("a file in the folder's place")
    assert compressed() == whole


def test_a_full_disk_leaves_no_part_of_it(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "chmod", full)
    assert gzip.decompress(compressed()) == SCRIPT
    assert not list(cache.iterdir())
