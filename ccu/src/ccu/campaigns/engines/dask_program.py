# SPDX-License-Identifier: Apache-2.0
"""The program `dask` with starts that import nothing from the current folder: a worker is a process
of multiprocessing."""

from __future__ import annotations

import multiprocessing

from dask.__main__ import main

from ddu import interpreter

if __name__ == "__main__":
    interpreter.safe(multiprocessing)
    main()  # type: ignore[no-untyped-call]
