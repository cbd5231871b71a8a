-- SPDX-License-Identifier: Apache-2.0
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
