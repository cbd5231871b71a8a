-- SPDX-License-Identifier: Apache-2.0
-- Campaigns that were published by their directory: how much there is to do.

CREATE TABLE testbed.campaign (
    name          text PRIMARY KEY,
    directory     text NOT NULL,
    planned_count integer NOT NULL,        -- cells: points of the design times repeats
    definition    jsonb NOT NULL,          -- campaign.json's campaign
    updated       timestamptz NOT NULL DEFAULT clock_timestamp()
);
