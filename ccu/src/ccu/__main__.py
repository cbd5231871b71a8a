# SPDX-License-Identifier: Apache-2.0
"""`python -m ccu`, and the command `ccu`."""

import signal


def main() -> None:
    """Run the command line. Until what it needs is imported, Ctrl-C just ends the process."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from ccu.cli.main import main as command

    command()


if __name__ == "__main__":  # The processes of a campaign import this module as well.
    main()
