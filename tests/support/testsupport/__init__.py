# SPDX-License-Identifier: Apache-2.0
"""What tests and benchmarks share: generated runs, stand-ins, a store, a browser."""
