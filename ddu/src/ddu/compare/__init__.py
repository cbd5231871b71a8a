# SPDX-License-Identifier: Apache-2.0
"""Many runs beside each other: how they differ, and how well that is known."""
