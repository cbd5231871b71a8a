/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hosts have been up for an hour when a run begins: programs take a time
 * of 0 for "not set", as ping does, which then sends without a pause for the
 * first second.
 *
 * Only what programs see has this offset, as in a time namespace: the clocks
 * since boot, /proc/uptime and the times at which absolute timers are due.
 * The kernel's own time begins at 0, so that packets and timers are the same
 * as without.
 *
 * setup/virtual-kernel copies this file to include/linux and lets
 * time_namespace.h have these functions in place of those that do nothing
 * (User Mode Linux has no time namespaces).
 */
#ifndef _LINUX_NR_LINK_UPTIME_H
#define _LINUX_NR_LINK_UPTIME_H

#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#define NR_LINK_UPTIME_S 3600LL
#define NR_LINK_UPTIME_NS (NR_LINK_UPTIME_S * NSEC_PER_SEC)

static inline void timens_add_monotonic(struct timespec64 *ts)
{
	ts->tv_sec += NR_LINK_UPTIME_S;
}

static inline void timens_sub_monotonic(struct timespec64 *ts)
{
	ts->tv_sec -= NR_LINK_UPTIME_S;
}

static inline void timens_add_boottime(struct timespec64 *ts)
{
	ts->tv_sec += NR_LINK_UPTIME_S;
}

static inline void timens_sub_boottime(struct timespec64 *ts)
{
	ts->tv_sec -= NR_LINK_UPTIME_S;
}

static inline u64 timens_add_boottime_ns(u64 nsec)
{
	return nsec + NR_LINK_UPTIME_NS;
}

/* The kernel's time of an absolute timer. */
static inline ktime_t timens_ktime_to_host(clockid_t clockid, ktime_t tim)
{
	switch (clockid) {
	case CLOCK_MONOTONIC:
	case CLOCK_BOOTTIME:
	case CLOCK_BOOTTIME_ALARM:
		return max_t(ktime_t, tim - NR_LINK_UPTIME_NS, 0);
	default:
		return tim;
	}
}

#endif
