# SPDX-License-Identifier: Apache-2.0
"""The experiment: its model, how it is resolved from flags and YAML, units, errors."""
