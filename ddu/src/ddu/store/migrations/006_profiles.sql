-- SPDX-License-Identifier: Apache-2.0
-- Profiles of a campaign have cells of the same names: the profile belongs to the campaign's name.

UPDATE testbed.run
SET campaign = c.name || '-' || (c.definition ->> 'profile'),
    name = c.name || '-' || (c.definition ->> 'profile') || substr(run.name, length(c.name) + 1)
FROM testbed.campaign c
WHERE run.campaign = c.name
  AND c.definition ->> 'profile' <> ''
  AND starts_with(run.directory, c.directory || '/');

UPDATE testbed.campaign
SET name = name || '-' || (definition ->> 'profile')
WHERE definition ->> 'profile' <> '';
