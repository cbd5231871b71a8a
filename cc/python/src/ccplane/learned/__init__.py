# SPDX-License-Identifier: Apache-2.0
"""What learned policies see and are rewarded for: one definition for policies and training."""
