# SPDX-License-Identifier: Apache-2.0
"""Dashboard 6: the run in progress."""

from __future__ import annotations

from grafana_foundation_sdk.builders.dashboard import Dashboard

from boards.board import board, chosen
from boards.panels import listing, number, series
from boards.sql import RUN
from boards.style import BAD, DELAY_LEVELS, NEUTRAL, OK, TEXT, WARN
from ddu.report.palette import colour_of

DIRECTIONS = {"downlink": "#0072b2", "uplink": "#d55e00"}


def dashboard() -> Dashboard:
    return board(
        "live",
        "Testbed · 6 Live",
        "The run in progress, from `ddu publish --live`: sockets, MAC and timing, updated every second. "
        "Metrics from the captures follow when the run has ended.",
        [*_headline(), "TCP", *_sockets(), "Radio and timing", *_radio()],
        [
            chosen("run", "Run", "SELECT name AS __text, run_id::text AS __value FROM testbed.run "
                   "WHERE state = 'live' ORDER BY published_at DESC", "Runs in progress; newest first."),
        ],
        time=("now-30s", "now"),
        refresh="1s",
    )  # fmt: skip


def _headline() -> list[object]:
    what = f"SELECT name AS run, cc, direction, radio, scenario, testbed, started FROM testbed.run WHERE {RUN}"
    rate = f"""
SELECT sum(rate) FROM (
    SELECT avg(acked_bps) AS rate FROM testbed.live_socket
    WHERE {RUN} AND time > (SELECT max(time) - interval '1 second' FROM testbed.live_socket WHERE {RUN})
    GROUP BY flow
) AS by_flow""".strip()
    delay = f"""
SELECT avg(srtt_ms) FROM testbed.live_socket
WHERE {RUN} AND time > (SELECT max(time) - interval '1 second' FROM testbed.live_socket WHERE {RUN})""".strip()
    age = f"SELECT extract(epoch FROM now() - max(time)) * 1000 AS age FROM testbed.live_radio WHERE {RUN}"
    return [
        listing("What runs", what, "The resolved experiment.", width=12, height=4),
        number("Throughput, last second", "bps", rate, "Acknowledged payload of all flows "
               "(tcpi_bytes_acked).",
               decimals=1),
        number("Smoothed RTT, last second", "ms", delay,
               "From the kernel, mean of all flows; coloured by the limits of application classes (20, 40, 100 ms).",
               levels=DELAY_LEVELS, decimals=1),
        number("Newest sample is old", "ms", age,
               "Age of the newest MAC sample. Above one second, the run or `ddu publish` has stalled.",
               levels=[(None, OK), (1000, WARN), (3000, BAD)], decimals=0),
    ]  # fmt: skip


def _of_socket(column: str) -> str:
    return f"""
SELECT time, cc || ' ' || flow AS metric, {column} AS value
FROM testbed.live_socket
WHERE {RUN} AND $__timeFilter(time)
ORDER BY 1, 2""".strip()


def _sockets() -> list[object]:
    return [
        series("Throughput (acknowledged)", "bps", _of_socket("acked_bps"), "From socket samples of the sender: "
               "growth of tcpi_bytes_acked. Throughput from the captures follows when the run has ended.",
               width=12, height=7),
        series("Smoothed RTT", "ms", _of_socket("srtt_ms"), delay=True, width=12, height=7,
               about="As reported by the kernel. Dashed: limits of application classes (20, 40, 100 ms)."),
        series("Congestion window", "decbytes", _of_socket("cwnd_bytes"), "snd_cwnd · MSS.", width=8, height=7),
        series("In flight", "decbytes", _of_socket("inflight_bytes"),
               "Packets sent and neither acknowledged nor lost (RFC 6675), times MSS.", width=8, height=7),
        series("Retransmissions", "short", _of_socket("retransmissions_count"), counts=True, width=8, height=7,
               about="Retransmitted segments between two samples."),
    ]  # fmt: skip


def _of_radio(values: dict[str, str]) -> str:
    pairs = ", ".join(f"('{name}', {value})" for name, value in values.items())
    return f"""
SELECT s.time, m.name || ' UE ' || s.ue AS metric, m.value AS value
FROM testbed.live_radio s
CROSS JOIN LATERAL (VALUES {pairs}) AS m (name, value)
WHERE s.{RUN} AND $__timeFilter(s.time)
ORDER BY 1, 2""".strip()


def _both(column: str) -> str:
    return _of_radio({"downlink": f"mac_dl_{column}", "uplink": f"mac_ul_{column}"})


def _radio() -> list[object]:
    trust = f"""
SELECT time, link_lateness_p99_us AS "lateness, 99 %"
FROM testbed.live_trust
WHERE {RUN} AND $__timeFilter(time)
ORDER BY 1, 2""".strip()
    reminis = f"""
SELECT time, m.name || ' ' || s.flow AS metric, (s.record ->> m.key)::real / 1000 AS value
FROM testbed.live_cc s
CROSS JOIN LATERAL (VALUES ('delay', 'delay_us'), ('DTT', 'dtt_us')) AS m (name, key)
WHERE s.{RUN} AND s.trace = 'reminis' AND $__timeFilter(s.time)
ORDER BY 1, 2""".strip()
    return [
        series("Delivered by the MAC", "bps", _both("sdu_throughput_bps"), "IP bits out of RLC.",
               width=8, height=7, colours=DIRECTIONS),
        series("RLC queue", "decbytes", _both("rlc_queue_bytes"), "Bytes waiting in the link.",
               width=8, height=7, colours=DIRECTIONS),
        series("MCS", "none", _both("mcs"), "Of first transmissions.", width=8, height=7, most=28, colours=DIRECTIONS),
        series("RSRP", "dBm", _of_radio({"RSRP": "mac_rsrp_dbm"}), "At the UE.", width=8, height=7, least=None,
               colours={"RSRP": NEUTRAL}),
        series("Reminis: delay against DTT", "ms", reminis, width=8, height=7, delay=True,
               about="For flows with Reminis. Dashed: limits of application classes (20, 40, 100 ms).",
               colours={"delay": colour_of("reminis"), "DTT": TEXT}),
        series("Lateness of the link", "µs", trust, width=8, height=7, colours={"lateness, 99 %": NEUTRAL},
               about="Delay of a slot behind its scheduled instant; above half a slot the run is degraded."),
    ]  # fmt: skip
