# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for OpenAirInterface in containers, and the link in place of the radio."""
