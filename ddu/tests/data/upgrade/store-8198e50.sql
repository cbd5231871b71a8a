-- SPDX-License-Identifier: Apache-2.0
-- The store's schema as revision 8198e50 made it: its migrations, in order.
-- 001_runs.sql
-- What was run, and what came out of it in one line.

CREATE TABLE testbed.experiment (
    experiment_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest        text NOT NULL UNIQUE,   -- SHA-256 of `resolved`
    resolved      jsonb NOT NULL          -- run.json's experiment without its seed: repetitions share a row
);

CREATE TABLE testbed.run (
    run_id          integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name            text NOT NULL UNIQUE CHECK (name <> ''),
    experiment_id   integer NOT NULL REFERENCES testbed.experiment,
    campaign        text NOT NULL DEFAULT '(none)',
    state           text NOT NULL CHECK (state IN ('live', 'published')),
    digest          text,                 -- SHA-256 of what was published; null while live
    published_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    directory       text NOT NULL,
    status          text NOT NULL CHECK (status IN ('running', 'finished', 'failed', 'interrupted')),
    failure         text,
    verdict         text CHECK (verdict IN ('valid', 'degraded', 'invalid')),
    verdict_reasons text[] NOT NULL DEFAULT '{}',
    cc              text NOT NULL,
    direction       text NOT NULL,
    prb             integer,
    scenario        text NOT NULL DEFAULT '(none)',
    testbed         text NOT NULL DEFAULT '(none)',
    seed            bigint,
    start_utc_ns    bigint,               -- where t_s is 0: the first payload packet
    started         timestamptz,          -- the same instant, to the microsecond
    duration_s      double precision,
    bin_ms          double precision,
    throughput_bps  double precision,
    goodput_bps     double precision,
    rtt_mean_ms     double precision,
    rtt_p50_ms      double precision,
    rtt_p95_ms      double precision,
    rtt_p99_ms      double precision,
    rtt_floor_ms    double precision,
    path_rtt_ms     double precision,
    retransmissions_count  bigint,
    lost_before_link_count bigint,
    lost_in_link_count     bigint,
    jain_throughput   double precision,
    utilisation_ratio double precision,
    rsrp_mean_dbm     double precision,
    sinr_mean_db      double precision,
    mcs_mean          double precision,
    bler_mean_ratio   double precision,
    summary         jsonb,
    manifest        jsonb NOT NULL
);
CREATE INDEX run_started ON testbed.run (started DESC);
CREATE INDEX run_experiment ON testbed.run (experiment_id);
CREATE INDEX run_campaign ON testbed.run (campaign);

CREATE TABLE testbed.flow (
    run_id     integer NOT NULL REFERENCES testbed.run ON DELETE CASCADE,
    flow_id    smallint NOT NULL,         -- order in summary.json
    flow       text NOT NULL,             -- f0, f1 …
    cc         text NOT NULL,
    direction  text NOT NULL,
    start_s    double precision,
    duration_s double precision,
    throughput_bps double precision,
    goodput_bps    double precision,
    rtt_mean_ms    double precision,
    rtt_p50_ms     double precision,
    rtt_p95_ms     double precision,
    rtt_p99_ms     double precision,
    retransmissions_count bigint,
    lost_in_link_count    bigint,
    PRIMARY KEY (run_id, flow_id)
);

-- CPU of the parts of the testbed, as shares of one core.
CREATE TABLE testbed.part_cpu (
    run_id    integer NOT NULL REFERENCES testbed.run ON DELETE CASCADE,
    part      text NOT NULL,
    cpu_ratio double precision,
    PRIMARY KEY (run_id, part)
);
-- 002_series.sql
-- The series: per bin of 20 ms, as docs/metrics.md names and defines the columns. `real` keeps seven
-- digits; the Parquet tables of the run directory keep all.
--
-- A run's rows are written at once and lie together, so that a BRIN index of a few pages finds them
-- among millions. minmax_multi, because VACUUM gives the room of a deleted run to a later one.

CREATE TABLE testbed.transport_sample (
    run_id integer NOT NULL REFERENCES testbed.run ON DELETE CASCADE,
    flow_id smallint NOT NULL,
    utc_ns bigint NOT NULL,
    t_s double precision NOT NULL,
    tcp_sending_rate_bps real,
    tcp_throughput_bps real,
    tcp_throughput_ip_bps real,
    tcp_goodput_bps real,
    tcp_rtt_ms real,
    tcp_rtt_p95_ms real,
    tcp_rtt_count real,
    tcp_rtt_seq_ms real,
    tcp_owd_ms real,
    tcp_retransmissions_count real,
    tcp_lost_before_link_count real,
    tcp_lost_in_link_count real,
    tcp_reordered_count real,
    tcp_inflight_bytes real,
    jain_throughput real,
    jain_sending_rate real,
    tcp_cwnd_bytes real,
    tcp_ssthresh_bytes real,
    tcp_srtt_ms real,
    tcp_pacing_rate_bps real,
    tcp_delivery_rate_bps real,
    tcp_ca_state text
);

CREATE TABLE testbed.radio_sample (
    run_id integer NOT NULL REFERENCES testbed.run ON DELETE CASCADE,
    ue smallint NOT NULL,
    utc_ns bigint NOT NULL,
    t_s double precision NOT NULL,
    mac_rnti real,
    mac_in_sync real,
    mac_rsrp_dbm real,
    mac_rsrp_meas_count real,
    mac_sinr_db real,
    mac_ul_snr_db real,
    mac_rssi_dbm real,
    mac_cqi real,
    mac_ri real,
    mac_phr_db real,
    mac_pcmax_dbm real,
    mac_dl_mcs real,
    mac_dl_mcs_table real,
    mac_dl_bler_ratio real,
    mac_dl_rounds_1_count real,
    mac_dl_rounds_2_count real,
    mac_dl_rounds_3_count real,
    mac_dl_rounds_4_count real,
    mac_dl_errors_count real,
    mac_dl_bytes real,
    mac_dl_header_bytes real,
    mac_dl_padding_bytes real,
    mac_dl_sdu_bytes real,
    mac_dl_sdu_count real,
    mac_dl_capacity_bytes real,
    mac_dl_capacity_sdu_bytes real,
    mac_dl_prb_count real,
    mac_dl_rlc_queue_bytes real,
    mac_dl_rlc_queue_packets real,
    mac_dl_rlc_wait_ms real,
    mac_dl_harq_ms real,
    mac_dl_rlc_delay_ms real,
    mac_dl_queue_drop_count real,
    mac_dl_path_loss_count real,
    mac_dl_rlc_loss_count real,
    mac_dl_enqueued_bytes real,
    mac_dl_throughput_bps real,
    mac_dl_sdu_throughput_bps real,
    mac_dl_capacity_bps real,
    mac_dl_capacity_sdu_bps real,
    mac_ul_mcs real,
    mac_ul_mcs_table real,
    mac_ul_bler_ratio real,
    mac_ul_rounds_1_count real,
    mac_ul_rounds_2_count real,
    mac_ul_rounds_3_count real,
    mac_ul_rounds_4_count real,
    mac_ul_errors_count real,
    mac_ul_bytes real,
    mac_ul_header_bytes real,
    mac_ul_padding_bytes real,
    mac_ul_sdu_bytes real,
    mac_ul_sdu_count real,
    mac_ul_capacity_bytes real,
    mac_ul_capacity_sdu_bytes real,
    mac_ul_prb_count real,
    mac_ul_rlc_queue_bytes real,
    mac_ul_rlc_queue_packets real,
    mac_ul_rlc_wait_ms real,
    mac_ul_harq_ms real,
    mac_ul_rlc_delay_ms real,
    mac_ul_queue_drop_count real,
    mac_ul_path_loss_count real,
    mac_ul_rlc_loss_count real,
    mac_ul_enqueued_bytes real,
    mac_ul_throughput_bps real,
    mac_ul_sdu_throughput_bps real,
    mac_ul_capacity_bps real,
    mac_ul_capacity_sdu_bps real
);

-- Whether the machine kept up.
CREATE TABLE testbed.trust_sample (
    run_id integer NOT NULL REFERENCES testbed.run ON DELETE CASCADE,
    utc_ns bigint NOT NULL,
    t_s double precision NOT NULL,
    link_lateness_p99_us real,
    link_overrun_count real,
    host_drop_count real,
    emulator_cpu_ratio real
);

-- Reminis's own words, one row a sampling interval; raw/cc-reminis.csv.
CREATE TABLE testbed.reminis_sample (
    run_id integer NOT NULL REFERENCES testbed.run ON DELETE CASCADE,
    flow_id smallint NOT NULL,
    utc_ns bigint NOT NULL,
    t_s double precision NOT NULL,
    zone smallint,
    action text,
    delay_us real,
    min_rtt_us real,
    dtt_us real,
    gradient real,
    mu real,
    draw real,
    cwnd_before real,
    cwnd_after real,
    si_us real,
    samples real
);

CREATE INDEX transport_sample_run ON testbed.transport_sample
    USING brin (run_id int4_minmax_multi_ops) WITH (pages_per_range = 16, autosummarize = on);
CREATE INDEX radio_sample_run ON testbed.radio_sample
    USING brin (run_id int4_minmax_multi_ops) WITH (pages_per_range = 32, autosummarize = on);
CREATE INDEX trust_sample_run ON testbed.trust_sample
    USING brin (run_id int4_minmax_multi_ops) WITH (pages_per_range = 16, autosummarize = on);
CREATE INDEX reminis_sample_run ON testbed.reminis_sample
    USING brin (run_id int4_minmax_multi_ops) WITH (pages_per_range = 16, autosummarize = on);
-- 003_overview.sql
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
-- 004_live.sql
-- The run that goes on now, read out of its raw files as they grow. Other definitions than those of
-- the series (no captures yet), so other tables; `ddu publish` of the finished run removes the rows.

CREATE TABLE testbed.live_socket (
    run_id integer NOT NULL REFERENCES testbed.run ON DELETE CASCADE,
    time timestamptz NOT NULL,
    flow text NOT NULL,                   -- sender's address and port
    cc text,
    acked_bps real,                       -- growth of tcpi_bytes_acked
    delivery_rate_bps real,
    pacing_rate_bps real,
    srtt_ms real,
    cwnd_bytes real,
    inflight_bytes real,                  -- (unacked - sacked - lost + retrans) * MSS, RFC 6675's pipe
    retransmissions_count real
);
CREATE INDEX live_socket_time ON testbed.live_socket (run_id, time);

CREATE TABLE testbed.live_radio (
    run_id integer NOT NULL REFERENCES testbed.run ON DELETE CASCADE,
    time timestamptz NOT NULL,
    ue smallint NOT NULL,
    mac_rsrp_dbm real,
    mac_sinr_db real,
    mac_ul_snr_db real,
    mac_dl_mcs real,
    mac_ul_mcs real,
    mac_dl_bler_ratio real,
    mac_ul_bler_ratio real,
    mac_dl_sdu_throughput_bps real,
    mac_ul_sdu_throughput_bps real,
    mac_dl_rlc_queue_bytes real,
    mac_ul_rlc_queue_bytes real
);
CREATE INDEX live_radio_time ON testbed.live_radio (run_id, time);

CREATE TABLE testbed.live_trust (
    run_id integer NOT NULL REFERENCES testbed.run ON DELETE CASCADE,
    time timestamptz NOT NULL,
    link_lateness_p99_us real,
    link_overrun_count real,
    host_drop_count real,
    emulator_cpu_ratio real
);
CREATE INDEX live_trust_time ON testbed.live_trust (run_id, time);

CREATE TABLE testbed.live_reminis (
    run_id integer NOT NULL REFERENCES testbed.run ON DELETE CASCADE,
    time timestamptz NOT NULL,
    flow text NOT NULL,
    zone smallint,
    action text,
    delay_ms real,
    dtt_ms real
);
CREATE INDEX live_reminis_time ON testbed.live_reminis (run_id, time);
