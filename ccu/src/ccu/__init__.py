# SPDX-License-Identifier: Apache-2.0
"""Configuration and Control Unit: runs transport experiments over 5G links."""
