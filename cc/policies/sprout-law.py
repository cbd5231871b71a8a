# SPDX-License-Identifier: Apache-2.0
"""Sprout's control law (Winstein, Sivaraman and Balakrishnan, NSDI 2013), after the paper.

The link is a Poisson process whose rate is not known and changes as a Brownian motion; in an outage
it is 0. Every tick of 20 ms, what was delivered changes the belief about the rate, a probability
for each of 128 rates (Bayes). As much may be in flight as the link delivers within 100 ms with a
probability of 95 %. Sprout is a UDP program whose receiver observes and forecasts; here the sender
does, by ACKs, so that the 100 ms include the way back.
"""

from math import erf, exp, lgamma, log, sqrt

from ccplane.problem import PolicyError

TICK_S = 0.020
RATES = 128
FORECASTS = 250  # numbers of packets in the table of forecasts, evenly spaced
# Standard deviation of the change of the rate in a second, as a share of the greatest rate: 200 of
# 1000 packets/s in Sprout.
DEVIATION = 0.2
ESCAPE_PER_S = 1.0  # the rate at which an outage ends
MOST_SILENT_TICKS = 100  # that are learned from after a silence; the belief has then settled
IDLE_QUEUE_US = 10_000  # queueing delay below which the sender was the limit, not the link
HEADERS_BYTES = 52  # of IPv4, and TCP with timestamps
LEAST_WINDOW = 4
IMPOSSIBLE = 1e-12  # the least probability: a rate that was ruled out may come back


def normal(x):
    """Return the share of the normal distribution below x."""
    return 0.5 * (1 + erf(x / sqrt(2)))


def at_most(count, mean):
    """Return the probability that a Poisson number of that mean is `count` at most."""
    if count < 0:
        return 0.0
    if mean > 50:
        return normal((count + 0.5 - mean) / sqrt(mean))
    term = total = exp(-mean)
    for number in range(1, int(count) + 1):
        term *= mean / number
        total += term
    return min(1.0, total)


class Belief:
    """Probabilities of the link's rate in packets/s, from an outage to the greatest rate."""

    def __init__(self, most_per_s, horizon_s):
        self.most_per_s = most_per_s
        self.rates = [(index + 0.5) * most_per_s / RATES for index in range(RATES)]
        self.rates[0] = 0.0  # an outage
        self.shares = [1 / RATES] * RATES  # the probability of each rate
        self.kernel = self._spread(DEVIATION * most_per_s * sqrt(TICK_S))
        self.stays = exp(-ESCAPE_PER_S * TICK_S)
        self.forecasts = self._forecasts(horizon_s)

    def _spread(self, deviation):
        """Return the shares of a rate's probability that go to its neighbours in a tick, from 4
        standard deviations below it to 4 above."""
        width = self.most_per_s / RATES
        most = int(4 * deviation / width)
        edges = [normal((at - 0.5) * width / deviation) for at in range(-most, most + 2)]
        return [edges[i + 1] - edges[i] for i in range(2 * most + 1)]

    def _forecasts(self, horizon_s):
        """Return for each number of packets, and each rate now, the probability that the link
        delivers at most that many within the horizon.

        The mean of a Brownian motion over a time t has the variance of its end, divided by 3. The
        mean rate is normal, so the probability is a weighted mean over 7 of its values."""
        deviation = DEVIATION * self.most_per_s * sqrt(horizon_s / 3)
        self.packets_per_row = self.most_per_s * horizon_s / FORECASTS
        deviations = [(-1.5 + at * 0.5) for at in range(7)]
        weights = [exp(-x * x / 2) for x in deviations]
        table = []
        for number in range(FORECASTS + 1):
            count, row = number * self.packets_per_row, []
            for rate in self.rates:
                means = [max(0.0, rate + x * deviation) * horizon_s for x in deviations]
                chances = [at_most(count, mean) for mean in means]
                weighted = sum(weight * one for weight, one in zip(weights, chances, strict=True))
                row.append(weighted / sum(weights))
            table.append(row)
        return table

    def pass_time(self):
        """Let the rate change for a tick; what would leave the range stays at its end."""
        half = len(self.kernel) // 2
        belief = [0.0] * RATES
        outage = self.shares[0]
        for index, share in enumerate(self.shares):
            if share < 1e-9:
                continue
            moving = share * (1 - self.stays) if index == 0 else share
            for offset, part in enumerate(self.kernel, index - half):
                belief[min(max(offset, 0), RATES - 1)] += moving * part
        belief[0] += outage * self.stays
        self.shares = belief

    def observe(self, packets, at_least):
        """Learn that the link delivered so many packets in a tick; `at_least`: it was offered no
        more, and could have delivered more."""
        likelihoods = []
        for rate, share in zip(self.rates, self.shares, strict=True):
            likelihoods.append(share * self._likelihood(packets, max(rate, 1.0) * TICK_S, at_least))
        total = sum(likelihoods)
        if total > 0:
            self.shares = [max(one / total, IMPOSSIBLE) for one in likelihoods]

    @staticmethod
    def _likelihood(packets, mean, at_least):
        if at_least:
            return 1 - at_most(packets - 1, mean) + IMPOSSIBLE
        return exp(packets * log(mean) - mean - lgamma(packets + 1))

    def cautious(self, risk):
        """Return the number of packets that the link delivers within the horizon, except with a
        probability of `risk`: the first row of the table (by bisection) that reaches it."""
        low, high = 0, len(self.forecasts) - 1
        while low < high:
            middle = (low + high) // 2
            below = sum(map(float.__mul__, self.forecasts[middle], self.shares))
            if below < risk:
                low = middle + 1
            else:
                high = middle
        return low * self.packets_per_row


class SproutLaw:
    def __init__(self, most_mbps: float = 12.0, within_ms: float = 100.0, confidence: float = 0.95):
        for name, value in (("most_mbps", most_mbps), ("within_ms", within_ms)):
            if not value > 0:
                raise PolicyError(f"{name} is above 0", f"write {name}=12")
        if not 0 < confidence < 1:
            raise PolicyError("confidence is between 0 and 1", "write confidence=0.95")
        self.most_bps, self.within_s, self.risk = most_mbps * 1e6, within_ms / 1000, 1 - confidence
        self.belief = None
        self.tick_s = None  # the time until which the belief is up to date
        self.acked = 0  # packets since then
        self.least_queue_us = None  # since then
        self.idle = True  # the sender was the limit, not the link

    def start(self, flow):
        flow.period_ms, flow.cwnd = 5, 10
        packets_per_s = self.most_bps / (8 * (flow.mss + HEADERS_BYTES))
        self.belief = Belief(packets_per_s, self.within_s)

    def report(self, flow, report):
        now_s = report.time_ns / 1e9
        if self.tick_s is None:
            self.tick_s = now_s
        if now_s - self.tick_s >= TICK_S:
            self._learn(now_s, report.min_rtt_us / 1e6)
            flow.cwnd = max(LEAST_WINDOW, self.belief.cautious(self.risk))
        self.acked += report.acked
        if report.rtt_min_us:
            queue_us = report.rtt_min_us - report.min_rtt_us
            least = self.least_queue_us
            self.least_queue_us = queue_us if least is None else min(least, queue_us)

    def _learn(self, now_s, min_rtt_s):
        """Learn from the ticks that have passed since the last one that had ACKs."""
        if self.least_queue_us is not None:
            # Without a queue the sender was the limit: the link could have delivered more.
            self.idle = self.least_queue_us < IDLE_QUEUE_US
        ticks = int((now_s - self.tick_s) / TICK_S)
        for tick in range(min(ticks, MOST_SILENT_TICKS)):
            self.belief.pass_time()
            # The ACKs of what departed at the last ones come a round trip later.
            awaited = tick * TICK_S < min_rtt_s
            self.belief.observe(0 if tick else self.acked, self.idle and awaited)
        self.tick_s += ticks * TICK_S
        self.acked, self.least_queue_us = 0, None
