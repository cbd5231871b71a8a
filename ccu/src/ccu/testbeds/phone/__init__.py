# SPDX-License-Identifier: Apache-2.0
"""A phone in an operator's network: reached by adb or by its owner's hands, served by ours."""
