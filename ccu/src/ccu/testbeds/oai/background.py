# SPDX-License-Identifier: Apache-2.0
"""Work that a thread does during a run."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Background:
    """Something whose `_run` is a thread between `start` and `finish`, until `_stop` is set."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=type(self).__name__, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def _run(self) -> None:
        raise NotImplementedError

    def _end(self, wake: Callable[[], None] = lambda: None) -> None:
        """Wait until the thread, if it was started, has ended; `wake` ends what it may wait for
        without looking at `_stop`."""
        self._stop.set()
        wake()
        if self._thread.ident is not None:
            self._thread.join()
