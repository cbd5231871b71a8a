-- SPDX-License-Identifier: Apache-2.0
-- Of a run that was just published: what comparisons read (003_overview.sql). %(run_id)s is the run.
-- A bin at 0.6 s begins a step, though 0.6 / 0.2 is 2.999…: hence the millionth.

INSERT INTO testbed.overview
SELECT run_id, flow_id, (floor(t_s / 0.2 + 1e-6) * 0.2)::real,
       avg(tcp_throughput_bps), avg(tcp_sending_rate_bps), avg(tcp_rtt_ms), avg(tcp_cwnd_bytes),
       avg(tcp_inflight_bytes), sum(tcp_retransmissions_count), avg(jain_throughput)
FROM testbed.transport_sample
WHERE run_id = %(run_id)s
GROUP BY run_id, flow_id, floor(t_s / 0.2 + 1e-6);

INSERT INTO testbed.distribution
SELECT %(run_id)s, series, metric, (number - 1) / 50.0, point.value
FROM (
    SELECT flow_id AS series, metric, count(value) AS known,
           percentile_cont(ARRAY(SELECT i / 50.0::float8 FROM generate_series(0, 50) AS i))
               WITHIN GROUP (ORDER BY value) AS at
    FROM testbed.transport_sample
    CROSS JOIN LATERAL (VALUES ('tcp_rtt_ms', tcp_rtt_ms),
                               ('tcp_throughput_bps', tcp_throughput_bps),
                               ('tcp_owd_ms', tcp_owd_ms)) AS of (metric, value)
    WHERE run_id = %(run_id)s
    GROUP BY flow_id, metric
    UNION ALL
    SELECT ue, metric, count(value),
           percentile_cont(ARRAY(SELECT i / 50.0::float8 FROM generate_series(0, 50) AS i))
               WITHIN GROUP (ORDER BY value)
    FROM testbed.radio_sample
    CROSS JOIN LATERAL (VALUES ('mac_rsrp_dbm', mac_rsrp_dbm),
                               ('mac_sinr_db', mac_sinr_db)) AS of (metric, value)
    WHERE run_id = %(run_id)s
    GROUP BY ue, metric
) AS found
CROSS JOIN LATERAL unnest(at) WITH ORDINALITY AS point (value, number)
WHERE known > 0;

INSERT INTO testbed.moments
SELECT run_id, flow_id, avg(tcp_rtt_ms), avg(tcp_throughput_bps), var_samp(tcp_rtt_ms),
       var_samp(tcp_throughput_bps), covar_samp(tcp_rtt_ms, tcp_throughput_bps)
FROM testbed.overview
WHERE run_id = %(run_id)s AND tcp_rtt_ms IS NOT NULL AND tcp_throughput_bps IS NOT NULL
GROUP BY run_id, flow_id
HAVING count(*) > 1;
