-- SPDX-License-Identifier: Apache-2.0
-- The series: per bin of 20 ms, as docs/metrics.md names and defines the columns. Those that metrics and
-- the MAC's columns declare are added after the migrations (ddu.store.metric_columns). `real` keeps seven
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
    t_s double precision NOT NULL
);

CREATE TABLE testbed.radio_sample (
    run_id integer NOT NULL REFERENCES testbed.run ON DELETE CASCADE,
    ue smallint NOT NULL,
    utc_ns bigint NOT NULL,
    t_s double precision NOT NULL,
    mac_dl_rounds_1_count real,
    mac_dl_rounds_2_count real,
    mac_dl_rounds_3_count real,
    mac_dl_rounds_4_count real,
    mac_ul_rounds_1_count real,
    mac_ul_rounds_2_count real,
    mac_ul_rounds_3_count real,
    mac_ul_rounds_4_count real
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
