# SPDX-License-Identifier: Apache-2.0
"""What runs in the containers; see README.md."""
