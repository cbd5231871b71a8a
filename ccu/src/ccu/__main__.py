# SPDX-License-Identifier: Apache-2.0
"""`python -m ccu` is `ccu`."""

from ccu.cli.main import main

if __name__ == "__main__":  # The processes of a campaign import this module as well.
    main()
