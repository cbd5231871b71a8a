-- SPDX-License-Identifier: Apache-2.0
-- What comparisons read: of every run little, so that many runs are quick. Derived from the series
-- when a run is published (derive.sql), and never written otherwise.

-- The series in steps of 200 ms.
CREATE TABLE testbed.overview (
    run_id integer NOT NULL REFERENCES testbed.run ON DELETE CASCADE,
    flow_id smallint NOT NULL,
    t_s real NOT NULL,
    tcp_throughput_bps real,
    tcp_sending_rate_bps real,
    tcp_rtt_ms real,
    tcp_cwnd_bytes real,
    tcp_inflight_bytes real,
    tcp_retransmissions_count real,
    jain_throughput real,
    PRIMARY KEY (run_id, flow_id, t_s)
);

-- Empirical distribution functions: `value` is not exceeded by the share `quantile` of the bins.
CREATE TABLE testbed.distribution (
    run_id integer NOT NULL REFERENCES testbed.run ON DELETE CASCADE,
    series smallint NOT NULL,             -- flow_id, or ue for the radio's
    metric text NOT NULL,
    quantile real NOT NULL,
    value real NOT NULL,
    PRIMARY KEY (run_id, series, metric, quantile)
);

-- First and second moments of (RTT, throughput) over 200 ms steps: the ellipse of one standard deviation.
CREATE TABLE testbed.moments (
    run_id integer NOT NULL REFERENCES testbed.run ON DELETE CASCADE,
    flow_id smallint NOT NULL,
    rtt_mean_ms double precision NOT NULL,
    throughput_mean_bps double precision NOT NULL,
    rtt_variance_ms2 double precision NOT NULL,
    throughput_variance_bps2 double precision NOT NULL,
    covariance_ms_bps double precision NOT NULL,
    PRIMARY KEY (run_id, flow_id)
);
