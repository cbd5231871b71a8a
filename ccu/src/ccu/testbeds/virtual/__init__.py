# SPDX-License-Identifier: Apache-2.0
"""The testbed `virtual`: hosts of a kernel in virtual time, with nr-link's model between them."""
