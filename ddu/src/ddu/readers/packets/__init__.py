# SPDX-License-Identifier: Apache-2.0
"""The packets of captures: one interface, read natively or by the reference reader."""
