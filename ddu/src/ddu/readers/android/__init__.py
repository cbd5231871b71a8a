# SPDX-License-Identifier: Apache-2.0
"""What an Android phone tells of its radio and of itself, over adb or in text that people kept."""
