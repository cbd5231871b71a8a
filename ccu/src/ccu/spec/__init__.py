# SPDX-License-Identifier: Apache-2.0
"""What an experiment is: its model, how it is resolved from flags and YAML, units, errors."""
