# SPDX-License-Identifier: Apache-2.0
"""One module per kind of raw file; each gives a table and knows nothing of the others."""
