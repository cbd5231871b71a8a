# SPDX-License-Identifier: Apache-2.0
"""What papers claim beside what campaigns measured: verdicts, and pages of them."""
