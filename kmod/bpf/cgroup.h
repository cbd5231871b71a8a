/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef REMINIS_CGROUP_H
#define REMINIS_CGROUP_H

/* The root of the cgroup v2 hierarchy, wherever or whether it is mounted: fd, or a negative errno.
 */
int open_root_cgroup(void);

#endif
