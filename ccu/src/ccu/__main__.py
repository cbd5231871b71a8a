# SPDX-License-Identifier: Apache-2.0
"""`python -m ccu` is `ccu`."""

from ccu.cli.main import main

main()
