-- SPDX-License-Identifier: Apache-2.0
-- What was run, and what came out of it in one line; the numbers that metrics declare are added after the migrations
-- (ddu.store.metric_columns).

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
    bin_ms          double precision,
    retransmissions_count  bigint,
    lost_before_link_count bigint,
    lost_in_link_count     bigint,
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
