# SPDX-License-Identifier: Apache-2.0
"""A phone in an operator's network, reached by adb, ssh or manually; this machine is its server."""
