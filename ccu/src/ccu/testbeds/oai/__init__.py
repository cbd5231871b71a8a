# SPDX-License-Identifier: Apache-2.0
"""OpenAirInterface: its versions, configurations, containers, channel control and logs.

The statements about it were read from its sources (2023.w16 to 2026.w11) or observed in a real run
over rfsim without a core; docs/oai.md says which.
"""
