# SPDX-License-Identifier: Apache-2.0
"""`python -m ddu` is `ddu`."""

from ddu.cli.main import main

main()
