# SPDX-License-Identifier: Apache-2.0
"""What every column is: its unit and definition, for people and for programs."""
