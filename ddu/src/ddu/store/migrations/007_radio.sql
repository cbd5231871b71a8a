-- SPDX-License-Identifier: Apache-2.0
-- The radio of a run in one line, as the report has it; null for runs from before, and without a radio of their own.

ALTER TABLE testbed.run ADD COLUMN radio text;
