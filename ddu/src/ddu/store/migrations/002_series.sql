-- SPDX-License-Identifier: Apache-2.0
-- The series: per bin of 20 ms, as docs/metrics.md names and defines the columns. `real` keeps seven
-- digits; the Parquet tables of the run directory keep all.
--
-- A run's rows are written at once and lie together, and every question is about runs: an index on
-- run_id alone finds them, and is small because it lists the rows of a run under one key. (BRIN is
-- smaller, but costs a second where a busy machine has left ranges unsummarised, or where a later run
-- got the room of one that was taken out.)

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

CREATE INDEX transport_sample_run ON testbed.transport_sample (run_id);
CREATE INDEX radio_sample_run ON testbed.radio_sample (run_id);
CREATE INDEX trust_sample_run ON testbed.trust_sample (run_id);
CREATE INDEX reminis_sample_run ON testbed.reminis_sample (run_id);
