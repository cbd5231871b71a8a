# SPDX-License-Identifier: Apache-2.0
"""OpenAirInterface: its versions, configurations, containers, channel control and logs.

What is said of it here was read from its sources (2023.w16 to 2026.w11) or seen in a real run over
rfsim without a core; docs/oai.md tells which is which.
"""
