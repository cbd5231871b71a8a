# SPDX-License-Identifier: Apache-2.0
"""Fit a `drawn` capacity (docs/scenarios.md) to measured links, and print it as YAML.

Each file is one link: lines of `second Mbit/s`, one second apart. The program outputs statistics
only: quantiles of all links together, the share of variance between links, and the correlation from
second to second.

A drawn rate is q(z), where q maps the normal distribution's share to the quantiles and z is normal.
If z has the correlation r, the correlation of the rates follows Mehler's formula, the sum of
c_k^2 r^k over k >= 1, with c_k the coefficients of q in normalised Hermite polynomials. Its inverse
converts the measured autocorrelation of the rates into that of z, to which the memory is fitted.

Run: `.venv/bin/python rf-scenarios/fit_links.py ../shared/data/traces/lumos5g/*_walking`.
"""

import sys
from pathlib import Path

import numpy as np
import yaml
from numpy.polynomial.hermite_e import hermegauss
from scipy.optimize import least_squares
from scipy.stats import norm

SHARES = [0, 0.01, 0.02, 0.05, *(n / 20 for n in range(2, 20)), 0.98, 0.99, 1]
LAGS_S = np.array([1, 2, 3, 4, 5, 7, 10, 14, 20, 28, 40, 56, 80])
TERMS = 40
NODES = 128


def autocorrelation(links: list[np.ndarray]) -> np.ndarray:
    """Return the autocorrelation for each lag, about the mean of all links, to include differences
    between links."""
    rates = np.concatenate(links)
    centred = [link - rates.mean() for link in links]
    pairs = [[(x[:-lag], x[lag:]) for x in centred if len(x) > lag] for lag in LAGS_S]
    covariances = [sum(a @ b for a, b in of) / sum(len(a) for a, _ in of) for of in pairs]
    return np.array(covariances) / rates.var()


def of_the_normal(correlation: np.ndarray, quantiles: np.ndarray) -> np.ndarray:
    """Return the correlation of z for a correlation of the rates."""
    z, weight = hermegauss(NODES)
    weight = weight / weight.sum()
    rates = np.interp(norm.cdf(z), SHARES, quantiles)
    before, polynomial = np.zeros_like(z), np.ones_like(z)
    powers = np.zeros(TERMS)
    for k in range(1, TERMS):
        before, polynomial = polynomial, (z * polynomial - np.sqrt(k - 1) * before) / np.sqrt(k)
        powers[k] = (weight @ (rates * polynomial)) ** 2
    grid = np.linspace(-0.5, 1, 601)
    of_rates = np.polynomial.polynomial.polyval(grid, powers / powers.sum())
    return np.interp(correlation, of_rates, grid)


def fit_memory(correlation: np.ndarray) -> tuple[float, list[tuple[float, float]]]:
    """Return the share between links, and two pairs of (share, seconds) within a link."""

    def model(guess: np.ndarray) -> np.ndarray:
        between, first, fast_s, slow_s = guess
        within = first * np.exp(-LAGS_S / fast_s) + (1 - first) * np.exp(-LAGS_S / slow_s)
        return between + (1 - between) * within

    fitted = least_squares(
        lambda guess: (model(guess) - correlation) / np.sqrt(LAGS_S + 3.0),  # long lags vary more
        [0.1, 0.3, 3, 20],
        bounds=([0, 0, 0.5, 5], [0.6, 1, 8, 80]),
    ).x
    between, first, fast_s, slow_s = (float(value) for value in fitted)
    return between, [(first, fast_s), (1 - first, slow_s)]


def fit(links: list[np.ndarray]) -> dict[str, object]:
    """Return `drawn` of a scenario with the statistics of these links, in Mbit/s per second."""
    quantiles = np.quantile(np.concatenate(links), SHARES)
    between, memory = fit_memory(of_the_normal(autocorrelation(links), quantiles))
    first = round(memory[0][0], 2)
    shares = (first, round(1 - first, 2))
    return {
        "step_s": 1,
        "quantiles_mbps": [
            [share, float(f"{rate:.4g}")] for share, rate in zip(SHARES, quantiles, strict=True)
        ],
        "between_links_ratio": round(between, 2),
        "memory": [
            {"share": share, "time_s": float(f"{time_s:.3g}")}
            for share, (_, time_s) in zip(shares, memory, strict=True)
            if share
        ],
    }


def main() -> None:
    links = [np.loadtxt(file)[:, 1] for file in sorted(map(Path, sys.argv[1:]))]
    if not links:
        sys.exit("fit_links: no files. Give one file per link, with lines of `second Mbit/s`")
    print(f"# {len(links)} links, {sum(map(len, links))} s")
    print(yaml.safe_dump({"drawn": fit(links)}, sort_keys=False, default_flow_style=None), end="")


if __name__ == "__main__":
    main()
