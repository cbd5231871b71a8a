# SPDX-License-Identifier: Apache-2.0
"""Dashboard 1: the experiment, its results, and everything on one time axis."""

from __future__ import annotations

from grafana_foundation_sdk.builders.dashboard import Dashboard

from boards import sql
from boards.board import board, files, one_run
from boards.names import UID
from boards.panels import listing, number, series
from boards.style import DELAY_LEVELS, NEUTRAL

OF_RUN = f"FROM testbed.run WHERE {sql.RUN}"


def dashboard() -> Dashboard:
    return board(
        "run",
        "Testbed · 1 Run",
        "One run: verdict, main metrics, and radio and TCP on one time axis.",
        [*_headline(), "TCP", *_transport(), "Radio", *_radio()],
        [one_run(), files()],
    )


def _headline() -> list[object]:
    report = "${files}/runs/${__data.fields.directory_name:percentencode}"
    relative = f"/d/{UID['compare']}?var-run=${{__data.fields.run_id}}"
    what = f"""
SELECT name AS run, 'report' AS report, 'CSV' AS csv, cc, direction, radio, scenario, {sql.MADE} AS made,
       duration_s AS duration, array_to_string(verdict_reasons, ' ') AS reasons, seed, testbed,
       regexp_replace(directory, CASE WHEN campaign = '(none)' THEN '^.*/'
                                 ELSE '^.*/(?=[^/]+/[^/]+/[^/]+/[^/]+$)' END, '') AS directory_name, run_id
{OF_RUN}""".strip()
    links = {
        "report": ("Report of this run", f"{report}/report.html"),
        "csv": ("The aligned table", f"{report}/tables/aligned.csv"),
        "run": ("Compare it", relative),
    }
    return [
        listing(
            "What was run", what,
            "The resolved experiment, and the reasons of the verdict. `report` and `csv` open the files that "
            "`ddu analyze` wrote, through `ddu serve`.",
            units={"duration": "s"}, wide={"radio": 205, "scenario": 120, "made": 150}, links=links,
            hidden=["directory_name", "run_id"], height=4,
        ),
        number(
            "Verdict", "none", f"SELECT coalesce(verdict, status) AS verdict {OF_RUN}",
            "Whether the machine kept up; if not, the result does not describe the network.",
            words=True, of_verdict=True,
        ),
        number(
            "Throughput", "bps", f"SELECT throughput_bps {OF_RUN}",
            "Payload received by all data flows, divided by the traffic time.", decimals=1,
        ),
        number(
            "Utilisation", "percentunit", f"SELECT utilisation_ratio {OF_RUN}",
            "IP bytes that the MAC delivered, divided by those that it could have delivered.", decimals=1,
        ),
        number(
            "RTT, median", "ms", f"SELECT rtt_p50_ms {OF_RUN}",
            "By TCP timestamps at the sender; coloured by the limits of application classes (20, 40, 100 ms).",
            levels=DELAY_LEVELS, decimals=1,
        ),
        number(
            "RTT, 95 %", "ms", f"SELECT rtt_p95_ms {OF_RUN}",
            "95 % of the samples are below; coloured by the limits of application classes (20, 40, 100 ms).",
            levels=DELAY_LEVELS, decimals=1,
        ),
        number(
            "Retransmissions", "none", f"SELECT retransmissions_count {OF_RUN}",
            "Retransmitted segments in the sender's capture.",
        ),
    ]  # fmt: skip


def _transport() -> list[object]:
    retransmitted = f"sum(s.tcp_retransmissions_count) / {sql.STEP}"
    jain = sql.per_step("transport_sample", {"throughput": "avg(s.jain_throughput)",
                                             "sending rate": "avg(s.jain_sending_rate)"})  # fmt: skip
    return [
        series("Throughput", "bps", sql.per_flow("avg(s.tcp_throughput_bps)"),
               "Payload bits that reach the receiver, per second."),
        series("Sending rate", "bps", sql.per_flow("avg(s.tcp_sending_rate_bps)"),
               "Bits sent per second, including headers and retransmissions."),
        series("RTT", "ms", sql.per_flow("avg(s.tcp_rtt_ms)"), delay=True, about=
               "By TCP timestamps, mean of the bin. Dashed: limits of application classes (20, 40, 100 ms)."),
        series("Congestion window", "decbytes", sql.per_flow("avg(s.tcp_cwnd_bytes)"),
               "snd_cwnd · MSS, as the kernel reports it."),
        series("In flight", "decbytes", sql.per_flow("avg(s.tcp_inflight_bytes)"),
               "Highest byte sent minus highest acknowledged, at the bin's end."),
        series("Retransmissions", "cps", sql.per_flow(retransmitted), counts=True, about=
               "Retransmitted segments per second."),
        series("Jain's index", "none", jain,
               "1: all active flows have equal rates; 1/n: one flow has everything. Needs two flows.",
               least=0, most=1, colours={"throughput": "#0072b2", "sending rate": "#e69f00"}),
    ]  # fmt: skip


def _radio() -> list[object]:
    directions = {"downlink": "#0072b2", "uplink": "#d55e00"}
    signal = {"downlink SINR": "avg(s.mac_sinr_db)", "uplink SNR": "avg(s.mac_ul_snr_db)"}
    both = {
        name: {"downlink": f"avg(s.mac_dl_{column})", "uplink": f"avg(s.mac_ul_{column})"}
        for name, column in (("mcs", "mcs"), ("bler", "bler_ratio"), ("queue", "rlc_queue_bytes"))
    }
    return [
        series("RSRP", "dBm", sql.per_ue({"RSRP": "avg(s.mac_rsrp_dbm)"}), least=None,
               about="Reference signal received power at the UE.", colours={"RSRP": NEUTRAL}),
        series("SINR", "dB", sql.per_ue(signal), least=None, colours=directions,
               about="Effective SINR of the downlink at the UE, and SNR of the uplink at the gNB."),
        series("MCS", "none", sql.per_ue(both["mcs"]), most=28, colours=directions,
               about="Mean MCS of first transmissions."),
        series("BLER", "percentunit", sql.per_ue(both["bler"]), most=1, colours=directions,
               about="Share of failed first transmissions; the target of link adaptation is 10 %."),
        series("RLC queue", "decbytes", sql.per_ue(both["queue"]), colours=directions,
               about="Bytes waiting in the link's RLC buffer."),
    ]  # fmt: skip
