-- SPDX-License-Identifier: Apache-2.0
-- What a campaign varies, with the value of each in this run (cell.json); null: of no campaign. Of runs from before,
-- the cell's name says it, unless it was cut (~).

ALTER TABLE testbed.run ADD COLUMN levels jsonb;

UPDATE testbed.run
SET levels = (
    SELECT jsonb_object_agg(split_part(level, '=', 1), substr(level, strpos(level, '=') + 1))
    FROM unnest(string_to_array(split_part(name, '/', 2), ',')) AS level
    WHERE level NOT LIKE 'seed=%' AND level LIKE '%=%'
)
WHERE campaign <> '(none)' AND name NOT LIKE '%~%';
