/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * What BBRv3 (bbr3.bpf.c) and BBRv2 (bbr2.bpf.c) share, after the IETF draft
 * draft-ietf-ccwg-bbr, whose names of functions and variables this follows.
 *
 * Model of the path: bw, the largest rate of delivery of the last two cycles of
 * probing; min_rtt; and how much may be in flight: inflight_longterm, where losses
 * were seen while probing, and bw_shortterm and inflight_shortterm, which shrink by
 * BETA in each round trip with losses until the next probe. The sender paces at
 * gain · bw and has at most gain · bw · min_rtt in flight.
 *
 * Two things of the draft Linux does not report: packets in flight when the ACKed
 * packet left (tx_in_flight), and those lost since (lost). Both come from a
 * history by the number of packets delivered, which a rate sample has of that
 * departure: `lost` is exact, tx_in_flight is what the next ACK found in flight.
 * Lost packets are looked at with the ACK that reported them, not one by one, and
 * those that a timer marked with the next ACK, unless that undoes the timeout.
 */
#ifndef CC_BBR_MODEL_H
#define CC_BBR_MODEL_H

#include "congestion.h"
#include "windowed.h"

#define BW_SCALE	   24 /* rates are in packets per µs, times 2^24 */
#define GAIN		   256
#define INFINITE_BW	   (~0ull)
#define INFINITE	   (~0u)
#define LOSS_THRESH	   2  /* percent */
#define BETA		   70 /* percent */
#define HEADROOM	   15 /* percent */
#define PACING_MARGIN	   1  /* percent */
#define MIN_PIPE_CWND	   4  /* packets */
#define MIN_RTT_FILTER_US  10000000
#define PROBE_RTT_EVERY_US 5000000
#define PROBE_RTT_US	   200000
#define PROBE_RTT_GAIN	   (GAIN / 2)
#define EXTRA_ACKED_ROUNDS 10
#define MOST_RENO_ROUNDS   63
#define HISTORY		   4096 /* packets delivered, a power of two */
#define INITIAL_CWND	   10

enum state {
	STARTUP,
	DRAIN,
	PROBE_BW_DOWN,
	PROBE_BW_CRUISE,
	PROBE_BW_REFILL,
	PROBE_BW_UP,
	PROBE_RTT
};
enum ack_phase {
	ACKS_INIT,
	ACKS_REFILLING,
	ACKS_PROBE_STARTING,
	ACKS_PROBE_FEEDBACK,
	ACKS_PROBE_STOPPING
};

struct bbr {
	__u64 bw, max_bw[2], bw_latest, bw_shortterm, full_bw, undo_bw_shortterm;
	__u64 min_rtt_stamp, probe_rtt_min_stamp, probe_rtt_done_stamp; /* µs */
	__u64 cycle_stamp, extra_acked_interval_start;
	__u32 bw_probe_wait; /* µs */
	__u32 min_rtt, probe_rtt_min_delay;
	__u32 inflight_longterm, inflight_shortterm, inflight_latest;
	__u32 undo_inflight_longterm, undo_inflight_shortterm;
	__u32 next_round_delivered, loss_round_delivered, round_count, drain_start_round;
	__u32 rounds_since_probe_up;
	__u32 probe_up_acked_per_inc, bw_probe_up_acked, bw_probe_up_rounds;
	__u32 extra_acked, extra_acked_delivered;
	struct windowed extra_acked_filter;
	__u32 prior_cwnd;
	__u32 losses_in_round; /* ACKs that reported some */
	__u32 last_delivered;
	__u32 lost,
		marked_lost; /* total, and tp->lost, which has what timers marked in error too */
	__u8 state, undo_state, ack_phase, ca_state, full_bw_count;
	bool full_bw_now, full_bw_reached, round_start, loss_round_start, is_loss_in_round;
	bool is_bw_probe_sample, prev_probe_too_high, prev_probe_precautionary;
	bool probe_rtt_expired, probe_rtt_round_done, idle_restart, measured;
	struct {
		__u32 delivered, lost, inflight;
	} history[HISTORY];
};

/* The ACK in hand. */
struct sample {
	__u64 delivery_rate;
	__u64 now; /* µs */
	__u32 delivered, newly_acked, prior_delivered, lost, tx_in_flight, losses;
	__u32 inflight, prior_inflight; /* after this ACK, and before it */
	bool is_app_limited, departure_known;
};

STATE_OF_SOCKET(struct bbr)

static __always_inline __u32 in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - (tp->sacked_out + tp->lost_out) + tp->retrans_out;
}

static __always_inline __u32 at_least(__u32 a, __u32 b)
{
	return a > b ? a : b;
}

static __always_inline __u32 at_most(__u32 a, __u32 b)
{
	return a < b ? a : b;
}

static __always_inline bool is_in_probe_bw(const struct bbr *bbr)
{
	return bbr->state >= PROBE_BW_DOWN && bbr->state <= PROBE_BW_UP;
}

static __always_inline bool is_probing_bw(const struct bbr *bbr)
{
	return bbr->state == STARTUP || bbr->state == PROBE_BW_REFILL || bbr->state == PROBE_BW_UP;
}

static __always_inline __u32 pacing_gain(const struct bbr *bbr)
{
	switch (bbr->state) {
	case STARTUP:
		return STARTUP_PACING_GAIN;
	case DRAIN:
		return DRAIN_PACING_GAIN;
	case PROBE_BW_DOWN:
		return DOWN_PACING_GAIN;
	case PROBE_BW_UP:
		return GAIN * 5 / 4;
	default:
		return GAIN;
	}
}

static __always_inline __u32 cwnd_gain(const struct bbr *bbr)
{
	switch (bbr->state) {
	case STARTUP:
	case DRAIN:
		return STARTUP_CWND_GAIN;
	case PROBE_BW_UP:
		return UP_CWND_GAIN;
	case PROBE_RTT:
		return PROBE_RTT_GAIN;
	default:
		return 2 * GAIN;
	}
}

static __always_inline __u64 max_bw(const struct bbr *bbr)
{
	return bbr->max_bw[0] > bbr->max_bw[1] ? bbr->max_bw[0] : bbr->max_bw[1];
}

/* Packets, rounded up. */
static __always_inline __u32 bdp_multiple(const struct bbr *bbr, __u64 bw, __u32 gain)
{
	if (!bbr->measured)
		return INITIAL_CWND;
	return (((bw * bbr->min_rtt) >> BW_SCALE) * gain + GAIN - 1) / GAIN + 1;
}

/* Packets of a burst: of a millisecond, from 2 to 64 KB. */
static __always_inline __u32 send_quantum(const struct sock *sk)
{
	__u32 packets = sk->sk_pacing_rate / 1000 / (tcp_sk(sk)->mss_cache | 1);

	return at_least(at_most(packets, 65536 / (tcp_sk(sk)->mss_cache | 1)), 2);
}

static __always_inline __u32 quantization_budget(const struct sock *sk, const struct bbr *bbr,
						 __u32 inflight_cap)
{
	inflight_cap = at_least(inflight_cap, 3 * send_quantum(sk));
	inflight_cap = at_least(inflight_cap, MIN_PIPE_CWND);
	return bbr->state == PROBE_BW_UP ? inflight_cap + 2 : inflight_cap;
}

static __always_inline __u32 inflight_of(const struct sock *sk, const struct bbr *bbr, __u64 bw,
					 __u32 gain)
{
	return quantization_budget(sk, bbr, bdp_multiple(bbr, bw, gain));
}

static __always_inline __u32 target_inflight(const struct sock *sk, const struct bbr *bbr)
{
	return at_most(bdp_multiple(bbr, bbr->bw, GAIN), tcp_sk(sk)->snd_cwnd);
}

static __always_inline __u32 inflight_with_headroom(const struct bbr *bbr)
{
	__u32 headroom;

	if (bbr->inflight_longterm == INFINITE)
		return INFINITE;
	headroom = at_least(1, (__u64)bbr->inflight_longterm * HEADROOM / 100);
	return at_least(bbr->inflight_longterm - at_most(headroom, bbr->inflight_longterm),
			MIN_PIPE_CWND);
}

static __always_inline void start_round(const struct tcp_sock *tp, struct bbr *bbr)
{
	bbr->next_round_delivered = tp->delivered;
}

static __always_inline void reset_congestion_signals(struct bbr *bbr)
{
	bbr->is_loss_in_round = false;
	bbr->bw_latest = 0;
	bbr->inflight_latest = 0;
}

static __always_inline void reset_short_term_model(struct bbr *bbr)
{
	bbr->bw_shortterm = INFINITE_BW;
	bbr->inflight_shortterm = INFINITE;
}

static __always_inline void reset_full_bw(struct bbr *bbr)
{
	bbr->full_bw = 0;
	bbr->full_bw_count = 0;
	bbr->full_bw_now = false;
}

static __always_inline void start_probe_bw_down(const struct tcp_sock *tp, struct bbr *bbr,
						__u64 now)
{
	reset_congestion_signals(bbr);
	bbr->probe_up_acked_per_inc = INFINITE;
	bbr->rounds_since_probe_up = bpf_get_prandom_u32() & 1;
	bbr->bw_probe_wait = 2000000 + (((__u64)bpf_get_prandom_u32() * 1000000) >> 32);
	bbr->cycle_stamp = now;
	bbr->ack_phase = ACKS_PROBE_STOPPING;
	start_round(tp, bbr);
	bbr->state = PROBE_BW_DOWN;
}

static __always_inline void start_probe_bw_refill(const struct tcp_sock *tp, struct bbr *bbr)
{
	reset_short_term_model(bbr);
	bbr->bw_probe_up_rounds = 0;
	bbr->bw_probe_up_acked = 0;
	bbr->prev_probe_precautionary = false;
	bbr->ack_phase = ACKS_REFILLING;
	start_round(tp, bbr);
	bbr->state = PROBE_BW_REFILL;
}

static __always_inline void raise_inflight_longterm_slope(const struct tcp_sock *tp,
							  struct bbr *bbr)
{
	__u32 growth = 1u << at_most(bbr->bw_probe_up_rounds, 30);

	bbr->bw_probe_up_rounds = at_most(bbr->bw_probe_up_rounds + 1, 30);
	bbr->probe_up_acked_per_inc = at_least(tp->snd_cwnd / growth, 1);
}

static __always_inline void start_probe_bw_up(const struct tcp_sock *tp, struct bbr *bbr, __u64 now,
					      __u64 delivery_rate)
{
	bbr->is_bw_probe_sample = true;
	bbr->ack_phase = ACKS_PROBE_STARTING;
	start_round(tp, bbr);
	reset_full_bw(bbr);
	bbr->full_bw = delivery_rate;
	bbr->state = PROBE_BW_UP;
	bbr->cycle_stamp = now;
	raise_inflight_longterm_slope(tp, bbr);
}

static __always_inline void save_cwnd(const struct tcp_sock *tp, struct bbr *bbr)
{
	if (bbr->ca_state < TCP_CA_Recovery && bbr->state != PROBE_RTT)
		bbr->prior_cwnd = tp->snd_cwnd;
	else
		bbr->prior_cwnd = at_least(bbr->prior_cwnd, tp->snd_cwnd);
}

static __always_inline void restore_cwnd(struct tcp_sock *tp, const struct bbr *bbr)
{
	tp->snd_cwnd = at_least(tp->snd_cwnd, bbr->prior_cwnd);
}

static __always_inline bool is_inflight_too_high(const struct sample *rs)
{
	return rs->departure_known && (__u64)rs->lost * 100 > (__u64)rs->tx_in_flight * LOSS_THRESH;
}

/* How many packets were in flight when so many were lost that it was too many. */
static __always_inline __u32 inflight_at_loss(const struct sample *rs)
{
	__u32 size = rs->losses, lost_prev = rs->lost > size ? rs->lost - size : 0;
	__u32 inflight_prev = rs->tx_in_flight > size ? rs->tx_in_flight - size : 0;
	__s64 prefix = (__s64)inflight_prev * LOSS_THRESH - (__s64)lost_prev * 100;

	return inflight_prev + (prefix > 0 ? (__u64)prefix / (100 - LOSS_THRESH) : 0);
}

/* A probe found the limit at so many packets in flight. */
static __always_inline void end_probe_too_high(struct sock *sk, struct bbr *bbr,
					       const struct sample *rs, __u32 inflight)
{
	bbr->prev_probe_too_high = true;
	bbr->is_bw_probe_sample = false;
	if (!rs->is_app_limited)
		bbr->inflight_longterm =
			at_least(inflight, (__u64)target_inflight(sk, bbr) * BETA / 100);
	if (bbr->state == PROBE_BW_UP)
		start_probe_bw_down(tcp_sk(sk), bbr, rs->now);
}

static __always_inline void handle_loss(struct sock *sk, struct bbr *bbr, const struct sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	bbr->losses_in_round++;
	if (!bbr->is_loss_in_round)
		bbr->loss_round_delivered = tp->delivered;
	bbr->is_loss_in_round = true;
	if (bbr->is_bw_probe_sample && is_inflight_too_high(rs))
		end_probe_too_high(sk, bbr, rs, inflight_at_loss(rs));
}

static __always_inline void update_latest_delivery_signals(const struct tcp_sock *tp,
							   struct bbr *bbr, const struct sample *rs)
{
	bbr->loss_round_start = false;
	if (rs->delivery_rate > bbr->bw_latest)
		bbr->bw_latest = rs->delivery_rate;
	bbr->inflight_latest = at_least(bbr->inflight_latest, rs->delivered);
	if ((__s32)(rs->prior_delivered - bbr->loss_round_delivered) >= 0) {
		bbr->loss_round_delivered = tp->delivered;
		bbr->loss_round_start = true;
	}
}

static __always_inline void update_max_bw(const struct tcp_sock *tp, struct bbr *bbr,
					  const struct sample *rs)
{
	bbr->round_start = (__s32)(rs->prior_delivered - bbr->next_round_delivered) >= 0;
	if (bbr->round_start) {
		start_round(tp, bbr);
		bbr->round_count++;
		bbr->rounds_since_probe_up++;
	}
	if (rs->delivery_rate && (rs->delivery_rate >= max_bw(bbr) || !rs->is_app_limited) &&
	    rs->delivery_rate > bbr->max_bw[1])
		bbr->max_bw[1] = rs->delivery_rate;
}

/* Once in a round trip with losses. */
static __always_inline void adapt_lower_bounds(const struct tcp_sock *tp, struct bbr *bbr)
{
	__u64 bw;

	if (is_probing_bw(bbr) || !bbr->is_loss_in_round)
		return;
	if (bbr->bw_shortterm == INFINITE_BW)
		bbr->bw_shortterm = max_bw(bbr);
	if (bbr->inflight_shortterm == INFINITE)
		bbr->inflight_shortterm = tp->snd_cwnd;
	bw = bbr->bw_shortterm * BETA / 100;
	bbr->bw_shortterm = bw > bbr->bw_latest ? bw : bbr->bw_latest;
	bbr->inflight_shortterm =
		at_least(bbr->inflight_latest, (__u64)bbr->inflight_shortterm * BETA / 100);
}

static __always_inline void update_ack_aggregation(const struct tcp_sock *tp, struct bbr *bbr,
						   const struct sample *rs)
{
	__u64 expected = (bbr->bw * (rs->now - bbr->extra_acked_interval_start)) >> BW_SCALE;
	__u32 extra;

	if (bbr->extra_acked_delivered <= expected) {
		bbr->extra_acked_delivered = 0;
		bbr->extra_acked_interval_start = rs->now;
		expected = 0;
	}
	bbr->extra_acked_delivered += rs->newly_acked;
	extra = at_most(bbr->extra_acked_delivered - (__u32)expected, tp->snd_cwnd);
	bbr->extra_acked = windowed_largest(&bbr->extra_acked_filter,
					    bbr->full_bw_reached ? EXTRA_ACKED_ROUNDS / 2 : 1,
					    bbr->round_count, extra);
}

static __always_inline void check_full_bw_reached(struct bbr *bbr, const struct sample *rs)
{
	__u64 bw = GROWING_BW;

	if (bbr->full_bw_now || !bbr->round_start || rs->is_app_limited)
		return;
	if (bw * 4 >= bbr->full_bw * 5) {
		reset_full_bw(bbr);
		bbr->full_bw = bw;
		return;
	}
	bbr->full_bw_now = ++bbr->full_bw_count >= 3;
	if (bbr->full_bw_now)
		bbr->full_bw_reached = true;
}

static __always_inline void check_startup_high_loss(struct bbr *bbr, const struct sample *rs)
{
	if (bbr->state == STARTUP && !bbr->full_bw_reached && bbr->loss_round_start &&
	    bbr->ca_state == TCP_CA_Recovery && bbr->losses_in_round >= STARTUP_FULL_LOSSES &&
	    is_inflight_too_high(rs)) {
		bbr->full_bw_reached = bbr->full_bw_now = true;
		bbr->inflight_longterm =
			at_least(bdp_multiple(bbr, max_bw(bbr), GAIN), STARTUP_LOSS_KEEPS);
	}
	if (bbr->loss_round_start)
		bbr->losses_in_round = 0;
}

static __always_inline void check_startup_and_drain_done(struct sock *sk, struct bbr *bbr,
							 const struct sample *rs)
{
	check_startup_high_loss(bbr, rs);
	if (bbr->state == STARTUP && bbr->full_bw_reached) {
		bbr->state = DRAIN;
		bbr->drain_start_round = bbr->round_count;
	}
	if (bbr->state == DRAIN && (rs->inflight <= inflight_of(sk, bbr, bbr->bw, GAIN) ||
				    bbr->round_count - bbr->drain_start_round > DRAIN_ROUNDS))
		start_probe_bw_down(tcp_sk(sk), bbr, rs->now);
}

static __always_inline void probe_inflight_longterm_upward(const struct tcp_sock *tp,
							   struct bbr *bbr, const struct sample *rs)
{
	__u32 delta;

	if (!is_cwnd_limited(tp) || tp->snd_cwnd < bbr->inflight_longterm)
		return;
	bbr->bw_probe_up_acked += rs->newly_acked;
	if (bbr->probe_up_acked_per_inc && bbr->bw_probe_up_acked >= bbr->probe_up_acked_per_inc) {
		delta = bbr->bw_probe_up_acked / bbr->probe_up_acked_per_inc;
		bbr->bw_probe_up_acked -= delta * bbr->probe_up_acked_per_inc;
		bbr->inflight_longterm += delta;
	}
	if (bbr->round_start)
		raise_inflight_longterm_slope(tp, bbr);
}

/* Whether it decided on another state. */
static __always_inline bool adapt_long_term_model(struct sock *sk, struct bbr *bbr,
						  const struct sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (bbr->ack_phase == ACKS_PROBE_STARTING && bbr->round_start)
		bbr->ack_phase = ACKS_PROBE_FEEDBACK;
	if (bbr->ack_phase == ACKS_PROBE_STOPPING && bbr->round_start) {
		bbr->is_bw_probe_sample = false;
		bbr->ack_phase = ACKS_INIT;
		if (is_in_probe_bw(bbr) && !rs->is_app_limited && bbr->max_bw[1]) {
			bbr->max_bw[0] = bbr->max_bw[1];
			bbr->max_bw[1] = 0;
		}
		if (is_in_probe_bw(bbr) && bbr->prev_probe_precautionary &&
		    !bbr->prev_probe_too_high) {
			start_probe_bw_refill(tp, bbr);
			return true;
		}
	}
	if (is_inflight_too_high(rs)) {
		if (JUDGES_EACH_ACK && bbr->is_bw_probe_sample)
			end_probe_too_high(sk, bbr, rs, rs->tx_in_flight);
		return false;
	}
	if (bbr->inflight_longterm == INFINITE)
		return false;
	if (rs->departure_known)
		bbr->inflight_longterm = at_least(bbr->inflight_longterm, rs->tx_in_flight);
	if (bbr->state == PROBE_BW_UP)
		probe_inflight_longterm_upward(tp, bbr, rs);
	return false;
}

/*
 * What the phases of ProbeBW go by: what is in flight, or AT_DEPARTURE what will be when
 * the next packets may leave. It counts those that this ACK acknowledges, and where they
 * raise the queue those that leave, but not what is delivered meanwhile.
 */
static __always_inline __u32 probed_inflight(const struct sock *sk, const struct bbr *bbr,
					     const struct sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	__u64 wait_us = 0, delivered;
	__u32 inflight = rs->prior_inflight;

	if (!AT_DEPARTURE)
		return rs->inflight;
	if (tp->tcp_wstamp_ns > tp->tcp_clock_cache)
		wait_us = (tp->tcp_wstamp_ns - tp->tcp_clock_cache) / 1000;
	delivered = (bbr->bw * wait_us) >> BW_SCALE;
	if (pacing_gain(bbr) > GAIN)
		inflight += send_quantum(sk);
	return inflight - at_most(delivered, inflight);
}

static __always_inline bool is_time_to_go_down(const struct sock *sk, struct bbr *bbr,
					       const struct sample *rs, __u32 inflight)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (bbr->prev_probe_too_high && inflight >= bbr->inflight_longterm) {
		bbr->prev_probe_precautionary = PRECAUTION;
		return true;
	}
	if (!UP_UNTIL_PLATEAU)
		return rs->now - bbr->cycle_stamp > bbr->min_rtt &&
		       inflight >= inflight_of(sk, bbr, max_bw(bbr), GAIN * 5 / 4);
	if (is_cwnd_limited(tp) && tp->snd_cwnd >= bbr->inflight_longterm) {
		reset_full_bw(bbr);
		bbr->full_bw = rs->delivery_rate;
		return false;
	}
	return bbr->full_bw_now;
}

static __always_inline bool is_time_to_probe_bw(const struct sock *sk, const struct bbr *bbr,
						const struct sample *rs)
{
	return rs->now > bbr->cycle_stamp + bbr->bw_probe_wait ||
	       bbr->rounds_since_probe_up >= at_most(target_inflight(sk, bbr), MOST_RENO_ROUNDS);
}

static __always_inline void update_probe_bw_cycle_phase(struct sock *sk, struct bbr *bbr,
							const struct sample *rs)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	__u32 inflight;

	if (!bbr->full_bw_reached || adapt_long_term_model(sk, bbr, rs) || !is_in_probe_bw(bbr))
		return;
	inflight = probed_inflight(sk, bbr, rs);
	switch (bbr->state) {
	case PROBE_BW_DOWN:
	case PROBE_BW_CRUISE:
		if (is_time_to_probe_bw(sk, bbr, rs))
			start_probe_bw_refill(tp, bbr);
		else if (bbr->state == PROBE_BW_DOWN && inflight <= inflight_with_headroom(bbr) &&
			 inflight <= inflight_of(sk, bbr, max_bw(bbr), GAIN))
			bbr->state = PROBE_BW_CRUISE;
		break;
	case PROBE_BW_REFILL:
		if (bbr->round_start)
			start_probe_bw_up(tp, bbr, rs->now, rs->delivery_rate);
		break;
	case PROBE_BW_UP:
		if (is_time_to_go_down(sk, bbr, rs, inflight)) {
			bbr->prev_probe_too_high = false;
			start_probe_bw_down(tp, bbr, rs->now);
		}
		break;
	}
}

/* An RTT as short as the least known may count as a new least, from which its time begins again. */
static __always_inline bool is_least(__u32 rtt, __u32 least)
{
	return rtt < least || (EQUAL_RTT_RENEWS && rtt == least);
}

static __always_inline void update_min_rtt(struct bbr *bbr, const struct sample *rs, long rtt_us)
{
	bbr->probe_rtt_expired = rs->now > bbr->probe_rtt_min_stamp + PROBE_RTT_EVERY_US;
	if (rtt_us >= 0 && (!bbr->measured || is_least(rtt_us, bbr->probe_rtt_min_delay) ||
			    bbr->probe_rtt_expired)) {
		bbr->probe_rtt_min_delay = rtt_us;
		bbr->probe_rtt_min_stamp = rs->now;
	}
	if (rtt_us >= 0 && (!bbr->measured || is_least(bbr->probe_rtt_min_delay, bbr->min_rtt) ||
			    rs->now > bbr->min_rtt_stamp + MIN_RTT_FILTER_US)) {
		bbr->min_rtt = bbr->probe_rtt_min_delay;
		bbr->min_rtt_stamp = bbr->probe_rtt_min_stamp;
		bbr->measured = true;
	}
}

static __always_inline __u32 probe_rtt_cwnd(const struct bbr *bbr)
{
	return at_least(bdp_multiple(bbr, bbr->bw, PROBE_RTT_GAIN), MIN_PIPE_CWND);
}

static __always_inline void check_probe_rtt_done(struct sock *sk, struct bbr *bbr, __u64 now)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (!bbr->probe_rtt_done_stamp || now <= bbr->probe_rtt_done_stamp)
		return;
	bbr->probe_rtt_min_stamp = now;
	restore_cwnd(tp, bbr);
	reset_short_term_model(bbr);
	if (bbr->full_bw_reached) {
		start_probe_bw_down(tp, bbr, now);
		bbr->state = PROBE_BW_CRUISE;
	} else {
		bbr->state = STARTUP;
	}
}

static __always_inline void check_probe_rtt(struct sock *sk, struct bbr *bbr,
					    const struct sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (bbr->state != PROBE_RTT && bbr->probe_rtt_expired && !bbr->idle_restart) {
		save_cwnd(tp, bbr);
		bbr->state = PROBE_RTT;
		bbr->probe_rtt_done_stamp = 0;
		bbr->ack_phase = ACKS_PROBE_STOPPING;
		start_round(tp, bbr);
	}
	if (bbr->state == PROBE_RTT) {
		tp->app_limited = at_least(tp->delivered + rs->inflight, 1);
		if (!bbr->probe_rtt_done_stamp && rs->inflight <= probe_rtt_cwnd(bbr)) {
			bbr->probe_rtt_done_stamp = rs->now + PROBE_RTT_US;
			bbr->probe_rtt_round_done = false;
			start_round(tp, bbr);
		} else if (bbr->probe_rtt_done_stamp) {
			if (bbr->round_start)
				bbr->probe_rtt_round_done = true;
			if (bbr->probe_rtt_round_done)
				check_probe_rtt_done(sk, bbr, rs->now);
		}
	}
	if (rs->delivered)
		bbr->idle_restart = false;
}

static __always_inline void set_pacing_rate(struct sock *sk, const struct bbr *bbr, __u32 gain)
{
	__u64 bytes_per_us = bbr->bw * tcp_sk(sk)->mss_cache / GAIN * gain; /* times 2^24 */
	__u64 rate = ((bytes_per_us >> BW_SCALE / 2) * (1000000 / 100 * (100 - PACING_MARGIN))) >>
		     BW_SCALE / 2;

	if (bbr->full_bw_reached || rate > sk->sk_pacing_rate)
		sk->sk_pacing_rate = rate;
}

static __always_inline void set_cwnd(struct sock *sk, struct bbr *bbr, const struct sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u64 extra = (bbr->bw * EXTRA_ACKED_MOST_US) >> BW_SCALE;
	__u32 most, cwnd = tp->snd_cwnd, cap = INFINITE;

	if (extra > bbr->extra_acked)
		extra = bbr->extra_acked;
	most = quantization_budget(sk, bbr, bdp_multiple(bbr, bbr->bw, cwnd_gain(bbr)) + extra);
	if (bbr->full_bw_reached)
		cwnd = at_most(cwnd + rs->newly_acked, most);
	else if (cwnd < most || tp->delivered < INITIAL_CWND)
		cwnd += rs->newly_acked;
	cwnd = at_least(cwnd, MIN_PIPE_CWND);
	if (bbr->state == PROBE_RTT)
		cwnd = at_most(cwnd, probe_rtt_cwnd(bbr));
	if (is_in_probe_bw(bbr) && bbr->state != PROBE_BW_CRUISE)
		cap = bbr->inflight_longterm;
	else if (bbr->state == PROBE_RTT || bbr->state == PROBE_BW_CRUISE)
		cap = inflight_with_headroom(bbr);
	cap = at_least(at_most(cap, bbr->inflight_shortterm), MIN_PIPE_CWND);
	tp->snd_cwnd = at_most(at_most(cwnd, cap), tp->snd_cwnd_clamp);
}

static __always_inline void describe(const struct tcp_sock *tp, struct bbr *bbr,
				     const struct rate_sample *from, struct sample *rs)
{
	__u32 at;

	/* In flight as this ACK found it: what departed last departed so. */
	bbr->history[bbr->last_delivered & (HISTORY - 1)].inflight = from->prior_in_flight;
	__builtin_memset(rs, 0, sizeof(*rs));
	rs->now = tp->tcp_mstamp;
	rs->inflight = in_flight(tp);
	rs->prior_inflight = from->prior_in_flight;
	rs->newly_acked = from->acked_sacked;
	rs->prior_delivered = from->prior_delivered;
	rs->is_app_limited = from->is_app_limited;
	rs->losses = tp->lost - bbr->marked_lost;
	bbr->lost += rs->losses;
	bbr->marked_lost = tp->lost;
	if (from->delivered > 0 && from->interval_us > 0) {
		rs->delivered = from->delivered;
		rs->delivery_rate = ((__u64)from->delivered << BW_SCALE) / (__u64)from->interval_us;
	}
	at = from->prior_delivered & (HISTORY - 1);
	if (from->delivered > 0 && bbr->history[at].delivered == from->prior_delivered) {
		rs->departure_known = true;
		rs->lost = bbr->lost - bbr->history[at].lost;
		rs->tx_in_flight = bbr->history[at].inflight;
	}
}

static __always_inline void remember(const struct tcp_sock *tp, struct bbr *bbr)
{
	__u32 at = tp->delivered & (HISTORY - 1);

	bbr->history[at].delivered = bbr->last_delivered = tp->delivered;
	bbr->history[at].lost = bbr->lost;
	bbr->history[at].inflight = tp->snd_cwnd;
}

/* UpdateOnACK() */
SEC("struct_ops/bbr_control")
void CONG_CONTROL(bbr_control, struct sock *sk, const struct rate_sample *from)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct bbr *bbr = state_of(sk);
	struct sample rs;

	if (!bbr)
		return;
	describe(tp, bbr, from, &rs);
	if (rs.losses)
		handle_loss(sk, bbr, &rs);
	update_latest_delivery_signals(tp, bbr, &rs);
	update_max_bw(tp, bbr, &rs);
	if (bbr->loss_round_start) {
		adapt_lower_bounds(tp, bbr);
		bbr->is_loss_in_round = false;
	}
	update_ack_aggregation(tp, bbr, &rs);
	check_full_bw_reached(bbr, &rs);
	check_startup_and_drain_done(sk, bbr, &rs);
	update_probe_bw_cycle_phase(sk, bbr, &rs);
	update_min_rtt(bbr, &rs, from->rtt_us);
	check_probe_rtt(sk, bbr, &rs);
	if (bbr->loss_round_start) {
		bbr->bw_latest = rs.delivery_rate;
		bbr->inflight_latest = rs.delivered;
	}
	bbr->bw = max_bw(bbr) < bbr->bw_shortterm ? max_bw(bbr) : bbr->bw_shortterm;
	if (bbr->bw)
		set_pacing_rate(sk, bbr, pacing_gain(bbr));
	set_cwnd(sk, bbr, &rs);
	remember(tp, bbr);
}

SEC("struct_ops/bbr_init")
void BPF_PROG(bbr_init, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct bbr *bbr = create_state(sk);
	__u64 srtt_us = tp->srtt_us ? tp->srtt_us >> 3 : 1000;

	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
	if (!bbr)
		return; /* without memory: the initial window */
	bbr->min_rtt_stamp = bbr->probe_rtt_min_stamp = tp->tcp_mstamp;
	bbr->extra_acked_interval_start = tp->tcp_mstamp;
	bbr->inflight_longterm = INFINITE;
	bbr->probe_up_acked_per_inc = INFINITE;
	bbr->next_round_delivered = bbr->loss_round_delivered = tp->delivered;
	bbr->marked_lost = tp->lost;
	reset_short_term_model(bbr);
	bbr->state = STARTUP;
	sk->sk_pacing_rate = (__u64)tp->snd_cwnd * tp->mss_cache * 1000000 / (srtt_us | 1) *
			     STARTUP_PACING_GAIN / GAIN;
	remember(tp, bbr);
}

/*
 * OnEnterFastRecovery(), OnEnterRTO(), SaveStateUponLoss(): before the kernel changes
 * the window. It undoes what has happened since, at most once, or nothing.
 */
SEC("struct_ops/bbr_ssthresh")
__u32 BPF_PROG(bbr_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct bbr *bbr = state_of(sk);

	if (bbr) {
		save_cwnd(tp, bbr);
		bbr->undo_state = bbr->state;
		bbr->undo_bw_shortterm = bbr->bw_shortterm;
		bbr->undo_inflight_shortterm = bbr->inflight_shortterm;
		bbr->undo_inflight_longterm = bbr->inflight_longterm;
	}
	return tp->snd_ssthresh; /* not used */
}

SEC("struct_ops/bbr_set_state")
void BPF_PROG(bbr_set_state, struct sock *sk, __u8 state)
{
	struct bbr *bbr = state_of(sk);

	if (!bbr)
		return;
	if (state < TCP_CA_Recovery && bbr->ca_state >= RESTORES_CWND_AFTER)
		restore_cwnd(tcp_sk(sk), bbr);
	bbr->ca_state = state;
}

/* HandleSpuriousLossDetection() */
SEC("struct_ops/bbr_undo_cwnd")
__u32 BPF_PROG(bbr_undo_cwnd, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct bbr *bbr = state_of(sk);

	if (!bbr)
		return tp->snd_cwnd;
	bbr->is_loss_in_round = false;
	reset_full_bw(bbr);
	if (bbr->undo_bw_shortterm > bbr->bw_shortterm)
		bbr->bw_shortterm = bbr->undo_bw_shortterm;
	bbr->inflight_shortterm = at_least(bbr->inflight_shortterm, bbr->undo_inflight_shortterm);
	bbr->inflight_longterm = at_least(bbr->inflight_longterm, bbr->undo_inflight_longterm);
	bbr->marked_lost = tp->lost;
	if (bbr->state != PROBE_RTT && bbr->state != bbr->undo_state) {
		if (bbr->undo_state == STARTUP) {
			bbr->full_bw_reached = false; /* or Startup would end at once */
			bbr->state = STARTUP;
		} else if (bbr->undo_state == PROBE_BW_UP) {
			bbr->prev_probe_too_high = false;
			start_probe_bw_up(tp, bbr, tp->tcp_mstamp, bbr->bw_latest);
		}
	}
	return at_least(tp->snd_cwnd, bbr->prior_cwnd);
}

/* HandleRestartFromIdle() */
SEC("struct_ops/bbr_cwnd_event")
void BPF_PROG(bbr_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct bbr *bbr = state_of(sk);

	if (event != CA_EVENT_TX_START || !bbr || !tp->app_limited)
		return;
	bbr->idle_restart = true;
	bbr->extra_acked_interval_start = tp->tcp_mstamp;
	if (is_in_probe_bw(bbr))
		set_pacing_rate(sk, bbr, GAIN);
	else if (bbr->state == PROBE_RTT)
		check_probe_rtt_done(sk, bbr, tp->tcp_mstamp);
}

SEC("struct_ops/bbr_release")
void BPF_PROG(bbr_release, struct sock *sk)
{
	drop_state(sk);
}

SEC("struct_ops/bbr_min_tso_segs")
__u32 BPF_PROG(bbr_min_tso_segs, struct sock *sk)
{
	return 2;
}

#endif
