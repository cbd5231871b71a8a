# SPDX-License-Identifier: Apache-2.0
"""Data collection and Dispatch Unit: from raw captures to tables, figures and reports."""
