# SPDX-License-Identifier: Apache-2.0
"""The state of an Android phone and its radio, over adb or in text that people kept."""
