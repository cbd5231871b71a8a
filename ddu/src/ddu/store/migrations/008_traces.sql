-- SPDX-License-Identifier: Apache-2.0
-- Traces of any congestion control, which declares its columns itself: there is one table for all.

CREATE TABLE testbed.cc_sample (
    run_id integer NOT NULL REFERENCES testbed.run ON DELETE CASCADE,
    flow_id smallint NOT NULL,
    utc_ns bigint NOT NULL,
    t_s double precision NOT NULL,
    trace text NOT NULL,                  -- NAME of raw/cc-NAME.csv
    record jsonb NOT NULL                 -- its other columns
);
CREATE INDEX cc_sample_run ON testbed.cc_sample (run_id, trace);

INSERT INTO testbed.cc_sample
SELECT run_id, flow_id, utc_ns, t_s, 'reminis',
       jsonb_strip_nulls(to_jsonb(s) - ARRAY['run_id', 'flow_id', 'utc_ns', 't_s'])
FROM testbed.reminis_sample s;
DROP TABLE testbed.reminis_sample;

CREATE TABLE testbed.live_cc (
    run_id integer NOT NULL REFERENCES testbed.run ON DELETE CASCADE,
    time timestamptz NOT NULL,
    flow text NOT NULL,
    trace text NOT NULL,
    record jsonb NOT NULL
);
CREATE INDEX live_cc_time ON testbed.live_cc (run_id, trace, time);

INSERT INTO testbed.live_cc
SELECT run_id, time, flow, 'reminis',
       jsonb_strip_nulls(jsonb_build_object('zone', zone, 'action', action,
                                            'delay_us', delay_ms * 1000, 'dtt_us', dtt_ms * 1000))
FROM testbed.live_reminis;
DROP TABLE testbed.live_reminis;
