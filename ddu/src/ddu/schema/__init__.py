# SPDX-License-Identifier: Apache-2.0
"""Units and definitions of all columns, for people and for programs."""
