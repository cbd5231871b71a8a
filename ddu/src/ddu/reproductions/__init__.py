# SPDX-License-Identifier: Apache-2.0
"""Claims of papers beside the measurements of campaigns: verdicts, and pages of them."""
