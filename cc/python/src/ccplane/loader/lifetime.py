# SPDX-License-Identifier: Apache-2.0
"""The lifetime of a loader: until a signal, or until its parent process ends."""

from __future__ import annotations

import os
import signal

_SIGNALS = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}


class Lifetime:
    """Begins where it is made: a parent that has ended before is not noticed.

    The parent is polled, because PR_SET_PDEATHSIG would send its signal already when the thread
    that started this process ends.
    """

    def __init__(self) -> None:
        self._parent = os.getppid()
        signal.signal(
            signal.SIGPIPE, signal.SIG_DFL
        )  # The parent, which read the output, may be gone.
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)

    def goes_on(self, period_s: float) -> bool:
        """Wait for a period, or less if it ends within; return whether it has not ended."""
        return signal.sigtimedwait(_SIGNALS, period_s) is None and os.getppid() == self._parent
