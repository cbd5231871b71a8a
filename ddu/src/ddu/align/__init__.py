# SPDX-License-Identifier: Apache-2.0
"""One clock for all sources: what each host's clock was, and when a source without one began."""
