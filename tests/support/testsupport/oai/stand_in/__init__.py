# SPDX-License-Identifier: Apache-2.0
"""The programs of the containers; see README.md."""
