# SPDX-License-Identifier: Apache-2.0
"""One run: traffic, captures, manifest, verdict."""
