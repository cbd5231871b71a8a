/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef REMINIS_CGROUP_H
#define REMINIS_CGROUP_H

/* Opens the root of the cgroup v2 hierarchy, even if it is not mounted: fd, or a negative errno. */
int open_root_cgroup(void);

#endif
