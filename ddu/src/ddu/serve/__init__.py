# SPDX-License-Identifier: Apache-2.0
"""Run directories in a browser."""

from ddu.serve.http import server

__all__ = ["server"]
