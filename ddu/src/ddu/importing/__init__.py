# SPDX-License-Identifier: Apache-2.0
"""Foreign folders become run directories; what was measured is copied and never modified."""
