/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * The least or largest value of a moving window of time, from the extremes of
 * its two halves: at the least half a window back, at most a whole one.
 */
#ifndef CC_WINDOWED_H
#define CC_WINDOWED_H

struct windowed {
	__u32 before, now; /* the extremes of the last half and of the current one */
	__u32 began;	   /* time of the current half */
};

static __always_inline void windowed_start(struct windowed *w, __u32 time, __u32 value)
{
	w->before = w->now = value;
	w->began = time;
}

/* Begins the next half if the current one is over. */
static __always_inline void windowed_turn(struct windowed *w, __u32 half, __u32 time, __u32 value)
{
	if (time - w->began >= 2 * half) {
		windowed_start(w, time, value);
	} else if (time - w->began >= half) {
		w->before = w->now;
		w->now = value;
		w->began = time;
	}
}

static __always_inline __u32 windowed_least(struct windowed *w, __u32 half, __u32 time, __u32 value)
{
	windowed_turn(w, half, time, value);
	if (value < w->now)
		w->now = value;
	return w->before < w->now ? w->before : w->now;
}

static __always_inline __u32 windowed_largest(struct windowed *w, __u32 half, __u32 time,
					      __u32 value)
{
	windowed_turn(w, half, time, value);
	if (value > w->now)
		w->now = value;
	return w->before > w->now ? w->before : w->now;
}

#endif
