# SPDX-License-Identifier: Apache-2.0
"""UTC for sources that have none, with the method and the uncertainty written down."""
