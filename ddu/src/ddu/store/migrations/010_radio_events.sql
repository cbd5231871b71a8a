-- SPDX-License-Identifier: Apache-2.0
-- The events of UEs' connections among several cells: raw/radio-events.jsonl, as docs/run-directory.md lists them.

CREATE TABLE testbed.radio_event (
    run_id integer NOT NULL REFERENCES testbed.run ON DELETE CASCADE,
    ue smallint NOT NULL,
    utc_ns bigint NOT NULL,
    t_s double precision NOT NULL,
    kind text NOT NULL,
    cell smallint,
    target smallint,
    event text,
    handover text,
    cause text,
    class text,
    interruption_ns bigint,
    forwarded_bytes bigint,
    retransmitted_bytes bigint,
    discarded_bytes bigint
);
CREATE INDEX radio_event_run ON testbed.radio_event (run_id);
