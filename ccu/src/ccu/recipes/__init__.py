# SPDX-License-Identifier: Apache-2.0
"""Recipes: what a figure or table is made of, so that others can make it again and compare."""
