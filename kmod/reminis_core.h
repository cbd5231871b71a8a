/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reminis: the algorithm, shared by the kernel module, the BPF program and the
 * tests on the host.
 *
 * "A Simple Non-Deterministic Approach Can Adapt to Complex Unpredictable 5G
 * Cellular Networks" (2023), sections 3 and 6, algorithms 1 and 2, appendix E.
 *
 * Model. Reno's AIMD runs per ACK, outside this file. Beside it a Guardian runs
 * once per sampling interval (SI, one mRTT long, mRTT the flow's lifetime
 * minimum RTT) and uses the RTT samples of that SI:
 *
 *   d    mean RTT of the SI             ∇d   change of d / duration of the SI
 *   DTT  delay tolerance threshold      SZ(d) = 1 - (d - mRTT) / (DTT - mRTT)
 *   μ  = μ - ∇d, starting at 1          σ² = |μ| / 4        S(x) = 1/(1 + e^-x)
 *
 *   zone 1  d <= DTT, ∇d <= 0  NDE: cwnd × 2^S(x), x drawn from N(μ, σ²)
 *   zone 2  d <= DTT, ∇d > 0   PS:  cwnd × 2^min(0, SZ(d + ∇d SI))
 *   zone 3  d > DTT            CM:  cwnd × 2^SZ(d) / 2
 *
 * States.    slow start --- loss, or d > DTT ---> guarded
 * In slow start (also after a timeout) only zone 3 acts. Outside of the kernel's
 * open state there is no NDE, but PS and CM may still cut: they lower ssthresh,
 * to which recovery (PRR, RFC 6937) reduces the window.
 *
 * Departures from the paper, each for a reason (docs/reminis.md has them all):
 *   - μ is kept within ±8 and set to 1 - (d - mRTT)/mRTT when mRTT falls, and after an
 *     idle time: with constant SIs the sum of its steps has this value.
 *   - If the window did not limit the flow, there is no NDE: an unused window
 *     says nothing about the path.
 *   - An SI without an RTT sample goes on until it has one. If it does because the
 *     sender was idle, it begins again with the data that ends the idle time, and the
 *     next ∇d is 0: what was measured before says nothing about the path now.
 *   - RTTs by TCP timestamps, which recovery depends on, do not lower mRTT: in whole ms,
 *     they can be a ms too small, for the rest of the flow.
 *   - After a cut the next SI begins with the first sample of data sent after the
 *     cut: appendix E takes d as the queue that the cut left (steps 3 to 5 and
 *     7 to 9), and a sample shows the queue of one RTT ago. An exploration does not
 *     wait: E.1 counts one per SI.
 *   - A cut stops at 4 segments, and never increases a smaller window.
 *   - The fraction of a segment that an action leaves is kept for the next one.
 *
 * Additions for a radio link, all off unless asked for (docs/reminis.md):
 *   - mean base: the zones compare d with the least d instead of the least sample,
 *     which a lucky uplink grant makes too small.
 *   - one way: d leaves out what the reverse path delayed the ACKs beyond its least,
 *     by the peer's TCP timestamps (RFC 7323); the SI lasts mRTT plus that.
 *   - bounded NDE: explores to a delay in the middle between base and DTT at most,
 *     and not at all above.
 *   - draining CM: cuts to the window that leaves no queue at the present rate at most.
 *   - new path: forgets mRTT where d stays above DTT with a window too small for a queue,
 *     as after a handover to a cell whose path is longer.
 *
 * This file uses no clock, no randomness, no allocation and no kernel types: the
 * caller passes the time in µs (any origin, may wrap around) and a random word,
 * and applies the window.
 */
#ifndef REMINIS_CORE_H
#define REMINIS_CORE_H

#include "reminis_math.h"

#define REMINIS_MIN_CWND	       4 /* segments; a cut stops here */
#define REMINIS_MU_LIMIT_Q24	       (8 * REMINIS_ONE_Q24)
#define REMINIS_DTT_MARGIN_US	       1000 /* a configured DTT exceeds mRTT at least by this */
#define REMINIS_DTT_MAX_US	       10000000
#define REMINIS_DTT_FACTOR_DEFAULT_Q16 (3U << 15) /* 1.5, section 3.1 */
#define REMINIS_EXPONENT_MIN_Q24       (-31 * REMINIS_ONE_Q24)
#define REMINIS_BASE_SAMPLES	       8 /* a d of fewer lowers the mean base in part only */
#define REMINIS_NEW_PATH_CWND	       (2 * REMINIS_MIN_CWND) /* CM cuts to its floor at once */
#define REMINIS_NEW_PATH_SIS	       8  /* a queue left by a larger window is gone after two */
#define REMINIS_CLOCK_DRIFT_SHIFT      13 /* 122 ppm: more than two clocks of 50 ppm differ by */

/* Ablation switches; in brackets the paper's figure, or the source. */
enum reminis_switch {
	REMINIS_NO_NDE = 1 << 0,    /* no exploration [3] */
	REMINIS_NDE_MEAN = 1 << 1,  /* deterministic: uses μ instead of a draw [3] */
	REMINIS_NO_PS = 1 << 2,	    /* [4] */
	REMINIS_NO_CM = 1 << 3,	    /* [5]; nothing else acts in zone 3 then */
	REMINIS_NO_AIMD = 1 << 4,   /* for the caller, which implements the AIMD [11] */
	REMINIS_EWMA = 1 << 5,	    /* average with the mean window [authors' code] */
	REMINIS_STALE_RTT = 1 << 6, /* after a cut, also use RTTs of data sent before it */
	REMINIS_JUMP_TO_4 = 1 << 7, /* CM beyond 2 mRTT: 4 segments [authors' code] */
	/* the additions; in brackets the weakness */
	REMINIS_MEAN_BASE = 1 << 8,    /* the base is the least d [lucky uplink grants] */
	REMINIS_ONE_WAY = 1 << 9,      /* without the reverse path's queue [congested ACKs] */
	REMINIS_NDE_BOUNDED = 1 << 10, /* [NDE multiplies a full window by 1.4 and more] */
	REMINIS_CM_DRAIN = 1 << 11,    /* [CM empties the link, not only the queue] */
	REMINIS_NEW_PATH = 1 << 12,    /* [mRTT of a shorter path that the flow has left] */
};

struct reminis_params {
	uint32_t dtt_us; /* of flows without their own DTT; 0: dtt_factor × mRTT */
	uint32_t dtt_factor_q16;
	uint32_t switches; /* bits of enum reminis_switch */
	uint32_t seed;	   /* of the draws; 0: the caller uses its own random numbers */
};

enum reminis_zone { REMINIS_ZONE_1 = 1, REMINIS_ZONE_2, REMINIS_ZONE_3 };

enum reminis_peer_clock {
	REMINIS_CLOCK_UNKNOWN, /* no timestamp yet */
	REMINIS_CLOCK_USED,
	REMINIS_CLOCK_UNUSABLE, /* does not count ms: one way is off for this flow */
};

enum reminis_action {
	REMINIS_ACTION_NONE,
	REMINIS_ACTION_NDE,
	REMINIS_ACTION_PS,
	REMINIS_ACTION_CM,
};

/* One flow's state. */
struct reminis {
	uint64_t si_start_us;
	uint64_t rtt_sum_us;
	uint64_t cut_us;	/* when the window was last cut */
	uint64_t mean_cwnd_q16; /* REMINIS_EWMA only; 0: none yet */
	uint32_t rtt_count;	/* samples in this SI */
	uint32_t min_rtt_us;	/* lifetime minimum, or since a new path; 0: no sample yet */
	uint32_t anchor_us;	/* the base_us that μ is based on; 0: none yet */
	uint32_t delay_us;	/* d of the last SI; 0: none yet, or idle since */
	int32_t mu_q24;
	uint32_t cwnd_fraction_q16;
	uint32_t dtt_us; /* of this flow; 0: that of the machine */
	uint32_t flow;	 /* number of the flow and of its draws, for seeded draws */
	uint32_t draws;
	uint32_t base_us;     /* what the zones take for the delay without a queue; 0: none yet */
	uint32_t floor_us;    /* least (ACK's arrival - peer's timestamp), modulo 2^32 */
	uint32_t floor_ticks; /* when it last rose, in units of 2^REMINIS_CLOCK_DRIFT_SHIFT µs */
	uint32_t reverse_us;  /* how much later than that the last ACK was, in whole ms */
	uint8_t peer_clock;   /* enum reminis_peer_clock */
	uint8_t zone, action; /* of the last SI */
	uint8_t has_cut;      /* cut_us is valid */
	uint8_t stuck;	      /* SIs in a row that a new path would explain */
};

/* State of the sender when an SI ends. */
struct reminis_sender {
	uint64_t now_us;
	uint32_t cwnd, ssthresh, cwnd_max; /* segments */
	uint32_t random;
	uint8_t open;	      /* the congestion state is open */
	uint8_t cwnd_limited; /* the window limited the flow */
};

/* Input and decision of the Guardian in one SI. */
struct reminis_decision {
	int64_t gradient_q24;
	int32_t mu_q24;
	int32_t draw_q24; /* x; meaningful when action is NDE */
	uint32_t delay_us, min_rtt_us, base_us, dtt_us, si_us, samples;
	uint32_t cwnd_before, cwnd_after, ssthresh_after;
	uint8_t zone, action;
};

reminis_inline void reminis_init(struct reminis *r, uint32_t flow)
{
	*r = (struct reminis){.mu_q24 = REMINIS_ONE_Q24, .flow = flow};
}

/* Two clocks drift apart: the floor rises with time, by 1 µs for each tick that has passed. */
reminis_inline void reminis_raise_floor(struct reminis *r, uint64_t now_us)
{
	uint32_t ticks = now_us >> REMINIS_CLOCK_DRIFT_SHIFT;

	r->floor_us += ticks - r->floor_ticks;
	r->floor_ticks = ticks;
}

/*
 * Processes the timestamp of an ACK (TSval, in ms by the peer's clock), before
 * reminis_on_ack(). The difference to the arrival is the reverse path's delay and a
 * constant; what exceeds the least one is its queue. It counts in whole ms, the
 * resolution of the peer's clock. If it exceeds the RTT, that clock counts no ms.
 */
reminis_inline void reminis_on_timestamp(struct reminis *r, const struct reminis_params *params,
					 uint64_t now_us, int32_t rtt_us, uint32_t peer_ms)
{
	uint32_t passage_us = (uint32_t)now_us - peer_ms * 1000;

	if (!(params->switches & REMINIS_ONE_WAY))
		r->reverse_us = 0;
	if (!(params->switches & REMINIS_ONE_WAY) || rtt_us < 0 ||
	    r->peer_clock == REMINIS_CLOCK_UNUSABLE)
		return;
	if (r->peer_clock == REMINIS_CLOCK_UNKNOWN)
		r->floor_ticks = now_us >> REMINIS_CLOCK_DRIFT_SHIFT;
	if (r->peer_clock == REMINIS_CLOCK_UNKNOWN || (int32_t)(passage_us - r->floor_us) < 0)
		r->floor_us = passage_us;
	r->peer_clock = REMINIS_CLOCK_USED;
	passage_us -= r->floor_us;
	r->reverse_us = passage_us - passage_us % 1000;
	if (r->reverse_us && r->reverse_us >= (uint32_t)rtt_us) {
		r->peer_clock = REMINIS_CLOCK_UNUSABLE;
		r->reverse_us = 0;
		r->base_us = r->min_rtt_us;
	}
}

/* The SI is over, as soon as it has a sample. */
reminis_inline int reminis_is_over(const struct reminis *r, uint64_t now_us)
{
	return now_us - r->si_start_us >= (uint64_t)r->min_rtt_us + r->reverse_us;
}

/*
 * Processes data that leaves while nothing else is in flight. If the SI only waits for a
 * sample, the sender was idle; without an idle time, the ACK of the last data has ended it.
 */
reminis_inline void reminis_on_restart(struct reminis *r, uint64_t now_us)
{
	if (!r->min_rtt_us || !reminis_is_over(r, now_us))
		return;
	reminis_raise_floor(r, now_us);
	r->si_start_us = now_us;
	r->rtt_sum_us = 0;
	r->rtt_count = 0;
	r->delay_us = 0;
}

/*
 * Processes one ACK. rtt_us < 0: the ACK has no valid RTT sample. After a retransmission
 * (`repairing`), a sample in whole ms may be of TCP timestamps: Karn's algorithm leaves no
 * other for an ACK of retransmitted data. Returns true when the SI is over and has a sample:
 * the caller must then call reminis_guard().
 */
reminis_inline int reminis_on_ack(struct reminis *r, const struct reminis_params *params,
				  uint64_t now_us, int32_t rtt_us, int repairing)
{
	uint32_t sample_us = rtt_us > 0 ? rtt_us : 1;
	uint32_t delay_us = sample_us > r->reverse_us ? sample_us - r->reverse_us : 1;
	int exact = !repairing || sample_us % 1000;

	if (rtt_us < 0 || (!exact && !r->min_rtt_us))
		return 0;
	if (!r->min_rtt_us)
		r->si_start_us = now_us;
	if (!r->min_rtt_us || (exact && sample_us < r->min_rtt_us))
		r->min_rtt_us = sample_us;
	if (!(params->switches & REMINIS_MEAN_BASE) &&
	    (!r->base_us || (exact && delay_us < r->base_us)))
		r->base_us = delay_us;
	if (!(params->switches & REMINIS_STALE_RTT) && r->has_cut &&
	    (int64_t)(now_us - sample_us - r->cut_us) < 0) {
		r->si_start_us = now_us; /* sent before the cut: shows the queue of that time */
		return 0;
	}
	r->rtt_sum_us += delay_us;
	r->rtt_count++;
	return reminis_is_over(r, now_us);
}

/* Returns the DTT in force; section 6: always above mRTT. The default is a multiple of mRTT. */
reminis_inline uint32_t reminis_dtt(const struct reminis *r, const struct reminis_params *params)
{
	uint32_t given_us = r->dtt_us ? r->dtt_us : params->dtt_us;
	uint32_t base_us = r->base_us ? r->base_us : r->min_rtt_us;
	uint32_t margin_us = base_us >> 3;
	uint64_t default_us;

	if (!given_us) {
		default_us = (uint64_t)base_us * params->dtt_factor_q16;
		default_us >>= 16;
		if (default_us <= base_us)
			return base_us + 1;
		return default_us > UINT32_MAX ? UINT32_MAX : default_us;
	}
	if (margin_us < REMINIS_DTT_MARGIN_US)
		margin_us = REMINIS_DTT_MARGIN_US;
	if (given_us < base_us + margin_us)
		return base_us + margin_us;
	return given_us;
}

/* SZ (equation 1) for a delay that is excess_q16 µs above DTT: -excess / (DTT - base). */
reminis_inline int32_t reminis_danger(const struct reminis_decision *d, uint64_t excess_q16)
{
	uint64_t room_us = d->dtt_us - d->base_us;

	if (excess_q16 >> 16 >= 31 * room_us)
		return REMINIS_EXPONENT_MIN_Q24;
	return -(int32_t)reminis_div(excess_q16 << 8, room_us);
}

/* ∇d in Q24, rounded to nearest; 0 in the first SI. */
reminis_inline int64_t reminis_gradient(const struct reminis *r, const struct reminis_decision *d)
{
	int64_t change_us = (int64_t)d->delay_us - r->delay_us;
	uint64_t size_us = change_us < 0 ? -change_us : change_us;
	uint64_t size_q24;

	if (!r->delay_us)
		return 0;
	size_q24 = reminis_div((size_us << 24) + d->si_us / 2, d->si_us);
	return change_us < 0 ? -(int64_t)size_q24 : (int64_t)size_q24;
}

reminis_inline int32_t reminis_mu(const struct reminis *r, const struct reminis_decision *d)
{
	int64_t mu_q24 = r->mu_q24 - d->gradient_q24;

	if (r->anchor_us && (r->anchor_us != d->base_us || !r->delay_us))
		mu_q24 = 2 * REMINIS_ONE_Q24 -
			 (int64_t)reminis_div((uint64_t)d->delay_us << 24, d->base_us);
	if (mu_q24 > REMINIS_MU_LIMIT_Q24)
		return REMINIS_MU_LIMIT_Q24;
	if (mu_q24 < -REMINIS_MU_LIMIT_Q24)
		return -REMINIS_MU_LIMIT_Q24;
	return mu_q24;
}

/* cwnd × factor in Q16, including the fraction kept from the last action. */
reminis_inline uint64_t reminis_scaled(const struct reminis *r, uint32_t cwnd, uint32_t factor_q30)
{
	uint64_t whole_q30 = (uint64_t)cwnd * factor_q30;
	uint64_t part_q30 = (uint64_t)r->cwnd_fraction_q16 * factor_q30 >> 16;

	return (whole_q30 + part_q30) >> 14;
}

/* The authors' code averages a new window with the mean window; gain 1/8 (RFC 6298). */
reminis_inline uint64_t reminis_averaged(struct reminis *r, uint64_t cwnd_q16)
{
	if (!r->mean_cwnd_q16)
		r->mean_cwnd_q16 = cwnd_q16;
	r->mean_cwnd_q16 += (cwnd_q16 >> 3) - (r->mean_cwnd_q16 >> 3);
	return (cwnd_q16 + r->mean_cwnd_q16) >> 1;
}

/* If ssthresh were above the window, the kernel would enter slow start after a cut. */
reminis_inline void reminis_end_slow_start(struct reminis_decision *d)
{
	uint32_t ssthresh = d->cwnd_after > REMINIS_MIN_CWND ? d->cwnd_after : REMINIS_MIN_CWND;

	if (ssthresh < d->ssthresh_after)
		d->ssthresh_after = ssthresh;
}

/* Multiplies the window by a factor; a cut stops at 4 segments and ends slow start. */
reminis_inline void reminis_move(struct reminis *r, const struct reminis_params *params,
				 const struct reminis_sender *s, struct reminis_decision *d,
				 uint32_t factor_q30)
{
	uint64_t cwnd_q16 = reminis_scaled(r, s->cwnd, factor_q30);
	uint32_t floor = s->cwnd < REMINIS_MIN_CWND ? s->cwnd : REMINIS_MIN_CWND;

	if (params->switches & REMINIS_EWMA)
		cwnd_q16 = reminis_averaged(r, cwnd_q16);
	if (cwnd_q16 >> 16 < floor)
		cwnd_q16 = (uint64_t)floor << 16;
	if (cwnd_q16 >> 16 >= s->cwnd_max)
		cwnd_q16 = (uint64_t)s->cwnd_max << 16;
	d->cwnd_after = cwnd_q16 >> 16;
	r->cwnd_fraction_q16 = cwnd_q16 & 0xffff;
	if (d->action == REMINIS_ACTION_NDE)
		return;
	r->cut_us = s->now_us;
	r->has_cut = 1;
	reminis_end_slow_start(d);
}

/*
 * The factor of the window that leads from the delay d to another, where a window fills the link:
 * an RTT is in proportion to the window, and has the reverse path's queue in it.
 */
reminis_inline uint32_t reminis_factor_to(const struct reminis *r, const struct reminis_decision *d,
					  uint32_t delay_us)
{
	uint64_t factor_q30 = reminis_div(((uint64_t)delay_us + r->reverse_us) << 30,
					  (uint64_t)d->delay_us + r->reverse_us);

	return factor_q30 > UINT32_MAX ? UINT32_MAX : factor_q30;
}

/* Bounded NDE: the most that it multiplies the window by, in Q30; 2 if it is not bounded. */
reminis_inline uint32_t reminis_most(const struct reminis *r, const struct reminis_params *params,
				     const struct reminis_decision *d)
{
	if (!(params->switches & REMINIS_NDE_BOUNDED))
		return 2U << 30;
	return reminis_factor_to(r, d, d->base_us + (d->dtt_us - d->base_us) / 2);
}

/* Zone 1, equation 2. */
reminis_inline void reminis_explore(struct reminis *r, const struct reminis_params *params,
				    const struct reminis_sender *s, struct reminis_decision *d)
{
	int32_t mu_q24 = d->mu_q24;
	uint32_t sigma_q24 = reminis_sqrt(mu_q24 < 0 ? -mu_q24 : mu_q24) / 2;
	uint32_t most_q30 = reminis_most(r, params, d), factor_q30;

	if ((params->switches & REMINIS_NO_NDE) || !s->open || !s->cwnd_limited ||
	    most_q30 <= 1U << 30)
		return;
	d->draw_q24 = mu_q24;
	if (!(params->switches & REMINIS_NDE_MEAN)) {
		d->draw_q24 += (int64_t)sigma_q24 * reminis_gauss(s->random) >> 24;
		r->draws++;
	}
	d->action = REMINIS_ACTION_NDE;
	factor_q30 = reminis_exp2(reminis_sigmoid(d->draw_q24));
	reminis_move(r, params, s, d, factor_q30 < most_q30 ? factor_q30 : most_q30);
}

/* Zone 2, equations 3 and 4: acts when the predicted delay exceeds DTT. */
reminis_inline void reminis_slow_down(struct reminis *r, const struct reminis_params *params,
				      const struct reminis_sender *s, struct reminis_decision *d)
{
	uint64_t rise_us = d->delay_us - r->delay_us;
	/* mRTT / duration of this SI; at most 1, because an SI lasts at least mRTT */
	uint64_t ratio_q31 = reminis_div((uint64_t)d->min_rtt_us << 31, d->si_us);
	uint64_t next_q16 = ((uint64_t)d->delay_us << 16) + (rise_us * ratio_q31 >> 15);
	uint64_t dtt_q16 = (uint64_t)d->dtt_us << 16;

	if ((params->switches & REMINIS_NO_PS) || next_q16 <= dtt_q16)
		return;
	d->action = REMINIS_ACTION_PS;
	reminis_move(r, params, s, d, reminis_exp2(reminis_danger(d, next_q16 - dtt_q16)));
}

/* Zone 3, equation 5: at least halves the window. */
reminis_inline void reminis_mitigate(struct reminis *r, const struct reminis_params *params,
				     const struct reminis_sender *s, struct reminis_decision *d)
{
	int32_t danger_q24 = reminis_danger(d, (uint64_t)(d->delay_us - d->dtt_us) << 16);
	uint32_t factor_q30, drained_q30;

	if (params->switches & REMINIS_NO_CM)
		return;
	if ((params->switches & REMINIS_JUMP_TO_4) && d->delay_us / 2 >= d->min_rtt_us)
		danger_q24 = REMINIS_EXPONENT_MIN_Q24;
	d->action = REMINIS_ACTION_CM;
	factor_q30 = reminis_exp2(danger_q24 - REMINIS_ONE_Q24);
	drained_q30 = reminis_factor_to(r, d, d->base_us);
	if ((params->switches & REMINIS_CM_DRAIN) && factor_q30 < drained_q30)
		factor_q30 = drained_q30;
	reminis_move(r, params, s, d, factor_q30);
}

/* The mean base falls to a lower d, in part if that is the mean of few samples. */
reminis_inline void reminis_lower_base(struct reminis *r, uint32_t delay_us)
{
	uint32_t weight = r->rtt_count < REMINIS_BASE_SAMPLES ? r->rtt_count : REMINIS_BASE_SAMPLES;

	if (!r->base_us)
		r->base_us = delay_us;
	if (delay_us < r->base_us)
		r->base_us -= (uint64_t)(r->base_us - delay_us) * weight / REMINIS_BASE_SAMPLES;
}

/* Section 3.1: infers the network condition from the samples of the SI. */
reminis_inline void reminis_infer(struct reminis *r, const struct reminis_params *params,
				  const struct reminis_sender *s, struct reminis_decision *d)
{
	uint64_t si_us = s->now_us - r->si_start_us;

	d->si_us = si_us > UINT32_MAX ? UINT32_MAX : si_us;
	d->samples = r->rtt_count;
	d->delay_us = reminis_div(r->rtt_sum_us + r->rtt_count / 2, r->rtt_count);
	d->min_rtt_us = r->min_rtt_us;
	if (params->switches & REMINIS_MEAN_BASE)
		reminis_lower_base(r, d->delay_us);
	d->base_us = r->base_us;
	d->dtt_us = reminis_dtt(r, params);
	d->gradient_q24 = reminis_gradient(r, d);
	d->mu_q24 = reminis_mu(r, d);
	if (d->delay_us > d->dtt_us)
		d->zone = REMINIS_ZONE_3;
	else
		d->zone =
			r->delay_us && d->delay_us > r->delay_us ? REMINIS_ZONE_2 : REMINIS_ZONE_1;
}

/*
 * A new path. A few segments in flight make no queue (BBR, too, measures min_rtt with four): if d
 * stays above DTT with them, the path is longer than mRTT, and the flow measures it again.
 */
reminis_inline void reminis_notice_path(struct reminis *r, const struct reminis_params *params,
					const struct reminis_decision *d)
{
	if (!(params->switches & REMINIS_NEW_PATH) || d->zone != REMINIS_ZONE_3 ||
	    d->cwnd_before > REMINIS_NEW_PATH_CWND) {
		r->stuck = 0;
		return;
	}
	if (++r->stuck < REMINIS_NEW_PATH_SIS)
		return;
	r->stuck = 0;
	r->min_rtt_us = 0;
	r->base_us = 0;
	r->delay_us = 0;
	r->peer_clock = REMINIS_CLOCK_UNKNOWN;
}

/* The Guardian, algorithm 1: ends the SI, decides, and starts the next one. */
reminis_inline void reminis_guard(struct reminis *r, const struct reminis_params *params,
				  const struct reminis_sender *s, struct reminis_decision *d)
{
	int slow_start = s->cwnd < s->ssthresh;

	*d = (struct reminis_decision){
		.cwnd_before = s->cwnd, .cwnd_after = s->cwnd, .ssthresh_after = s->ssthresh};
	reminis_infer(r, params, s, d);
	if (d->zone == REMINIS_ZONE_3) {
		reminis_mitigate(r, params, s, d);
		reminis_end_slow_start(d); /* also without CM */
	} else if (!slow_start && d->zone == REMINIS_ZONE_2) {
		reminis_slow_down(r, params, s, d);
	} else if (!slow_start) {
		reminis_explore(r, params, s, d);
	}
	r->mu_q24 = d->mu_q24;
	r->anchor_us = d->base_us;
	r->delay_us = d->delay_us;
	r->zone = d->zone;
	r->action = d->action;
	r->rtt_sum_us = 0;
	r->rtt_count = 0;
	reminis_raise_floor(r, s->now_us);
	r->si_start_us = s->now_us;
	reminis_notice_path(r, params, d);
}

#endif
