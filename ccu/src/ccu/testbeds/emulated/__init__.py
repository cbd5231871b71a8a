# SPDX-License-Identifier: Apache-2.0
"""The testbed `emulated`: nr-link between network namespaces, in real time."""
