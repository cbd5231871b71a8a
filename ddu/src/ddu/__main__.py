# SPDX-License-Identifier: Apache-2.0
"""`python -m ddu`, and the command `ddu`."""

# `signal` imports some ten modules, during which Ctrl-C is a traceback; this is its part in C.
from _signal import SIG_DFL, SIGINT, signal  # type: ignore[import-not-found]


def main() -> None:
    """Run the command line. Until what it needs is imported, Ctrl-C just ends the process."""
    signal(SIGINT, SIG_DFL)
    from ddu.cli.main import main as command

    command()


if __name__ == "__main__":
    main()
