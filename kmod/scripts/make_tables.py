# SPDX-License-Identifier: GPL-2.0-only
"""Write reminis_tables.h: tables of two functions, because the kernel has no floating point.

Usage: python3 scripts/make_tables.py > reminis_tables.h

tests/core/test_math.py compares the functions that use the tables with `math` and
`statistics.NormalDist` over their whole range.
"""

from statistics import NormalDist

EXP2_STEPS = 128  # linear interpolation: relative error below (ln 2 / 128)² / 8 = 3.7e-6
GAUSS_STEPS = 16  # per octave of the tail probability
GAUSS_OCTAVES = 32


def exp2_table() -> list[int]:
    """Return 2^(i/128) in Q30, i = 0…128."""
    return [round(2 ** (30 + i / EXP2_STEPS)) for i in range(EXP2_STEPS + 1)]


def gauss_table() -> list[int]:
    """Return upper-tail quantiles z(p), Q24, at p = 2^k·(1 + j/16) / 2^33, k = 0…31, and at 1/2."""
    nodes = [
        2.0 ** (k - 33) * (1 + j / GAUSS_STEPS)
        for k in range(GAUSS_OCTAVES)
        for j in range(GAUSS_STEPS)
    ]
    return [round(-NormalDist().inv_cdf(p) * 2**24) for p in [*nodes, 0.5]]


def declare(name: str, comment: str, values: list[int]) -> str:
    rows = [", ".join(map(str, values[i : i + 8])) for i in range(0, len(values), 8)]
    body = ",\n\t".join(rows)
    return f"/* {comment} */\nreminis_table uint32_t {name}[{len(values)}] = {{\n\t{body}\n}};\n"


if __name__ == "__main__":
    print("/* SPDX-License-Identifier: GPL-2.0-only */")
    print("/* Written by scripts/make_tables.py; do not edit. */")
    print("#ifndef REMINIS_TABLES_H\n#define REMINIS_TABLES_H\n\n/* clang-format off */")
    print(declare("reminis_exp2_q30", "2^(i/128) in Q30", exp2_table()))
    print(
        declare(
            "reminis_gauss_q24",
            "z in Q24 with upper-tail probability 2^k (1 + j/16) / 2^33, index 16 k + j",
            gauss_table(),
        )
    )
    print("/* clang-format on */\n#endif")
