# SPDX-License-Identifier: Apache-2.0
"""The results of an analysis as they are on disk: those of one analysis, or none.

Summary and tables are read together with the digests that the analysis gave them, so that a mixture
of two analyses is refused instead of compared, exported, published or kept.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ddu.console.input_file import read_json
from ddu.console.problems import RefusedError
from ddu.errors import UnreadableInput
from ddu.run.integrity import CHANGED, KEY, damages, digest_of_raw, files_of, is_intact, raw_of
from ddu.run.manifest import read_content, read_manifest
from ddu.run.version import need_known

if TYPE_CHECKING:  # `ccu campaign` starts without it
    import pandas as pd

SUMMARY = "summary.json"
SCHEMA_VERSION = 1
"""The newest version of summary.json and of the tables that this version understands."""

OF_ANOTHER_RUN = "is of another run"


class TableMissing(KeyError):  # noqa: N818
    """The run has no table of this name."""


def is_analysed(run: Path) -> bool:
    """Return whether the run has results; the summary is written last, and removed first."""
    return (run / SUMMARY).exists()


def is_whole(run: Path) -> bool:
    """Return whether the run has results, and all are as one analysis wrote them."""
    if not is_analysed(run):
        return False
    try:
        files = files_of(summary_record(run))
    except UnreadableInput:
        return False
    return files is not None and not any(damages(run, files.values()))


def read_summary(run: Path) -> dict[str, Any]:
    """Return summary.json. Raises UnreadableInput if it is damaged, or not of its form."""
    from ddu.tables.summary_form import need_form

    content = summary_record(run)
    need_form(run / SUMMARY, content, how_to_repair(run))
    content.pop(KEY, None)
    return content


def read_table(run: Path, table: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Return a table of the run, or those of `columns` that it has.

    Raises TableMissing, or UnreadableInput if the table is not one of the analysis that wrote
    summary.json. Results that are older than their digests are read as they are.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    name = f"tables/{table}.parquet"
    files = files_of(summary_record(run)) if is_analysed(run) else None
    try:
        content = (run / name).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        if name not in (files or {}) or name in read_manifest(run).dropped:
            raise TableMissing(table) from None
        raise _mixture(run, name, "is missing") from None
    except OSError as error:
        raise UnreadableInput(run / name, str(error.strerror), how_to_repair(run)) from None
    if files is not None and (rule := _unlike(content, files.get(name))):
        raise _mixture(run, name, rule)
    try:
        with pq.ParquetFile(io.BytesIO(content)) as opened:
            there = opened.schema_arrow.names
            wanted = None if columns is None else [one for one in columns if one in there]
            frame: pd.DataFrame = opened.read(wanted, use_threads=False).to_pandas()
            return frame
    except (OSError, pa.ArrowException) as error:
        raise UnreadableInput(run / name, str(error), how_to_repair(run)) from None


def table_names(run: Path) -> list[str]:
    """Return the names of the run's tables."""
    return sorted(one.stem for one in (run / "tables").glob("*.parquet"))


def how_to_repair(run: Path) -> str:
    """Return how to get whole results of the run."""
    with suppress(RefusedError):
        if read_manifest(run).kept is not None:
            return f"restore it from a copy, or repeat the run with `ccu rerun {run}`"
    return f"run `ddu analyze {run}`"


def summary_record(run: Path) -> dict[str, Any]:
    """Return summary.json with the digests of the other results.

    Raises UnreadableInput if it is damaged, of a newer version, or of another run.
    """
    file = run / SUMMARY
    try:
        content = read_json(file)
    except (OSError, ValueError) as error:
        raise UnreadableInput(file, str(error), how_to_repair(run)) from None
    if not isinstance(content, dict) or "verdict" not in content:
        raise UnreadableInput(file, "not what `ddu analyze` writes", how_to_repair(run))
    need_known(file, content.get("schema_version"), SCHEMA_VERSION)
    if is_intact(content) is False:
        raise UnreadableInput(file, CHANGED, how_to_repair(run))
    raw = raw_of(content)
    if raw is not None and raw != digest_of_raw(read_content(run)):
        raise UnreadableInput(file, OF_ANOTHER_RUN, how_to_repair(run))
    return content


def _unlike(content: bytes, described: Mapping[str, Any] | None) -> str | None:
    """Return how a table differs from its description; None if it does not."""
    if described is None:
        return "is of another analysis"
    same = hashlib.sha256(content).hexdigest() == described["sha256"]
    return None if same else "has another SHA-256"


def _mixture(run: Path, name: str, rule: str) -> UnreadableInput:
    rule = f"{rule}: {SUMMARY} is of another analysis, or the disk or a copy lost data"
    return UnreadableInput(run / name, rule, how_to_repair(run))
