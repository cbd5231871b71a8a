# SPDX-License-Identifier: Apache-2.0
"""The promises of this repository for its application and congestion control over 5G."""

import json

import over5g
from ccu.testing import over_5g

SERVE = ["python3", "photo_service.py", "serve"]
FETCH = ["python3", "photo_service.py", "fetch", "10.45.0.1", "10"]


@over_5g(max_rtt_p95_ms=250, min_throughput_mbps=5)
def test_photos_arrive_in_time(link):
    ran = link(FETCH, SERVE, scenario="rome-moderate", prb=24)
    durations_s = json.loads(ran.output)
    assert len(durations_s) == 10
    assert max(durations_s) < 1.0


@over_5g(max_rtt_p95_ms=250)
def test_bbr_keeps_its_round_trips_short(link):
    ran = link(FETCH, SERVE, scenario="rome-moderate", prb=24, cc="bbr")
    assert ran.aligned["tcp_rtt_ms"].max() < 400


def test_bbr_uses_the_link(tmp_path):
    link = {"testbed": "virtual", "scenario": "rome-moderate", "prb": 24}
    ran = over5g.run("bbr", duration="10s", **link, output=tmp_path)
    assert ran.summary["verdict"] == "valid"
    assert ran.aligned["tcp_rtt_ms"].quantile(0.95) < 250
    assert ran.summary["utilisation_ratio"] > 0.6
