/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's half of the plane for policies: a congestion control that decides
 * nothing. It reports to a policy in user space and obeys the policy's newest
 * command: at ACKs, and before departures, since on a 5G uplink the next ACK
 * comes with the next grant, up to 20 ms later. A flow whose reports stay
 * without an answer for PLANE_PATIENCE_NS goes to Reno until one comes.
 *
 * plane.bpf.c makes it a BPF program, nr-link/virtual/driver/plane.c a part of
 * the kernel in virtual time. Each has struct sock and its kin, and defines
 *
 *	plane_of(sk)                     the plane that a socket belongs to
 *	plane_now()                      CLOCK_MONOTONIC, ns
 *	plane_reserve(), plane_submit()  memory for a report, and its delivery
 *	plane_local_port(sk), plane_remote_port(sk), is_cwnd_limited(tp)
 *	create_state(sk), state_of(sk), drop_state(sk)   a flow's history; NULL without memory
 */
#ifndef CC_PLANE_CORE_H
#define CC_PLANE_CORE_H

#include "plane_abi.h"

#define PLANE_PATIENCE_NS 500000000ull
#define PLANE_HISTORY	  4096 /* a power of two: packets delivered that are remembered */
#define PLANE_TSO_SEGS	  2    /* net.ipv4.tcp_min_tso_segs */

/* What outlives a flow at its index. */
struct plane_slot {
	__u32 used;
	__u16 generation;
};

/*
 * In flight when so many packets were delivered: finds the state at a packet's departure.
 * 32 KB, so that only flows that there are have one.
 */
struct plane_history {
	struct {
		__u32 delivered, inflight;
	} at[PLANE_HISTORY];
};

/* One policy's; a policy maps the first part of it. */
struct plane {
	struct plane_command commands[PLANE_FLOWS];
	struct plane_counters counters;
	struct plane_slot slots[PLANE_FLOWS];
};

/* In the socket's private area. */
struct plane_flow {
	__u64 reported_ns;
	__u64 unanswered_ns; /* the oldest report that no command followed; 0: none */
	__u64 applied;
	__u64 applied_after_ns;
	__u64 rtt_sum_us;
	__u32 index; /* PLANE_FLOWS: none was free, and Reno has the flow */
	__u32 period_us;
	__u32 cwnd;	     /* that the policy wants; 0: none yet */
	__u32 prr_delivered; /* since recovery began, RFC 6937 */
	__u32 acks, acked, rtt_min_us, rtt_count;
	__u32 lost;	 /* total that the policy knows; timers mark losses too, between ACKs */
	__u32 delivered; /* total at the last ACK */
	__u16 generation;
	__u8 ca_state;
	__u8 fallback;
	__u8 paced; /* by a command; else by the window */
};
_Static_assert(sizeof(struct plane_flow) <= ICSK_CA_PRIV_SIZE, "the private area is too small");

static __always_inline struct plane *plane_of(struct sock *sk);
static __always_inline __u64 plane_now(void);
static __always_inline struct plane_report *plane_reserve(struct plane *plane);
static __always_inline void plane_submit(struct plane *plane, struct plane_report *r);
static __always_inline __u16 plane_local_port(const struct sock *sk);
static __always_inline __u16 plane_remote_port(const struct sock *sk);
static __always_inline struct plane_history *create_state(struct sock *sk);
static __always_inline struct plane_history *state_of(struct sock *sk);
static __always_inline void drop_state(struct sock *sk);

static __always_inline struct plane_flow *plane_flow_of(struct sock *sk)
{
	return (struct plane_flow *)((struct inet_connection_sock *)sk)->icsk_ca_priv;
}

static __always_inline __u32 plane_in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - (tp->sacked_out + tp->lost_out) + tp->retrans_out;
}

static __always_inline void plane_count(__u64 *counter)
{
	__sync_fetch_and_add(counter, 1);
}

/*
 * As tcp_update_pacing_rate(): twice the window a round trip in slow start, else 1.2 times.
 * A new flow's infinite ssthresh says nothing of a policy that gives windows only.
 */
static __always_inline void plane_pace_by_window(struct sock *sk, const struct tcp_sock *tp)
{
	__u64 rate = (__u64)tp->mss_cache * ((1000000 / 100) << 3);
	bool slow_start = tp->snd_cwnd < tp->snd_ssthresh / 2;

	if (plane_flow_of(sk)->cwnd && tp->snd_ssthresh == TCP_INFINITE_SSTHRESH)
		slow_start = false;
	if (!tp->srtt_us)
		return;
	rate *= slow_start ? 200 : 120;
	rate *= tp->snd_cwnd > tp->packets_out ? tp->snd_cwnd : tp->packets_out;
	sk->sk_pacing_rate = rate / tp->srtt_us;
}

static __always_inline void plane_describe_flow(struct sock *sk, const struct plane_flow *f,
						struct plane_report *r)
{
	const struct tcp_sock *tp = (struct tcp_sock *)sk;

	r->flow = f->index;
	r->generation = f->generation;
	r->ca_state = f->ca_state;
	r->srtt_us = tp->srtt_us >> 3;
	r->min_rtt_us = tp->rtt_min.s[0].v;
	r->delivered = tp->delivered;
	r->inflight = plane_in_flight(tp);
	r->cwnd = tp->snd_cwnd;
	r->mss = tp->mss_cache;
	r->pacing_rate = sk->sk_pacing_rate;
	r->bytes_acked = tp->bytes_acked;
	r->lost = tp->lost;
	r->retransmitted = tp->total_retrans;
	r->delivered_ce = tp->delivered_ce;
	r->applied = f->applied;
	r->flags =
		(is_cwnd_limited(tp) ? PLANE_CWND_LIMITED : 0) | (f->fallback ? PLANE_FALLBACK : 0);
}

static __always_inline void plane_describe_sample(const struct rate_sample *rs, __u32 tx_inflight,
						  struct plane_report *r)
{
	r->rtt_us = rs->rtt_us > 0 ? rs->rtt_us : 0;
	r->prior_delivered = rs->prior_delivered;
	r->tx_inflight = tx_inflight;
	if (rs->delivered > 0 && rs->interval_us > 0) {
		r->rate_delivered = rs->delivered;
		r->rate_interval_us = rs->interval_us;
	}
	r->flags |=
		(rs->is_app_limited ? PLANE_APP_LIMITED : 0) | (rs->is_retrans ? PLANE_RETRANS : 0);
}

/* What the ACKs since the last report said, which then begins anew. */
static __always_inline void plane_take_sums(struct plane_flow *f, struct plane_report *r)
{
	r->losses = r->lost - f->lost;
	f->lost = r->lost;
	r->acks = f->acks;
	r->acked = f->acked;
	r->rtt_min_us = f->rtt_count ? f->rtt_min_us : 0;
	r->rtt_avg_us = f->rtt_count ? f->rtt_sum_us / f->rtt_count : 0;
	r->applied_after_ns = f->applied_after_ns;
	f->acks = f->acked = f->rtt_count = 0;
	f->rtt_sum_us = 0;
	f->applied_after_ns = 0;
}

static __always_inline void plane_report(struct sock *sk, __u8 event, const struct rate_sample *rs,
					 __u32 tx_inflight)
{
	struct plane_flow *f = plane_flow_of(sk);
	struct plane *plane = plane_of(sk);
	struct plane_report *r;

	if (f->index >= PLANE_FLOWS)
		return;
	r = plane_reserve(plane);
	if (!r) {
		plane_count(&plane->counters.reports_lost);
		return;
	}
	__builtin_memset(r, 0, sizeof(*r));
	r->event = event;
	plane_describe_flow(sk, f, r);
	if (rs)
		plane_describe_sample(rs, tx_inflight, r);
	if (event == PLANE_ACKS)
		plane_take_sums(f, r);
	if (event == PLANE_START) {
		r->acks = plane_local_port(sk);
		r->acked = plane_remote_port(sk);
	}
	r->time_ns = f->reported_ns = plane_now();
	if (!f->unanswered_ns)
		f->unanswered_ns = r->time_ns;
	plane_count(&plane->counters.reports);
	plane_submit(plane, r);
}

/*
 * The window that is wanted, but in recovery never so little at once that lost
 * packets wait until the rest is acknowledged, and time out: as long as more is
 * in flight, PRR (RFC 6937) says how much may be sent.
 */
static __always_inline void plane_set_window(struct sock *sk, __u32 wanted, __u32 acked)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct plane_flow *f = plane_flow_of(sk);
	__u32 inflight = plane_in_flight(tp), most = tp->snd_cwnd_clamp;
	__u64 share, sent = 1;

	f->prr_delivered += acked;
	if (!wanted)
		return;
	if (f->ca_state < TCP_CA_Recovery || inflight < wanted) {
		tp->snd_cwnd = wanted < most ? wanted : most;
		return;
	}
	if (f->ca_state == TCP_CA_Recovery && tp->prior_cwnd) {
		share = (__u64)wanted * f->prr_delivered + tp->prior_cwnd - 1;
		share /= tp->prior_cwnd;
		sent = share > tp->prr_out ? share - tp->prr_out : !tp->prr_out;
	}
	tp->snd_cwnd = inflight + sent;
}

static __always_inline void plane_apply(struct sock *sk, struct plane_flow *f,
					const struct plane_command *c)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	__u64 now = plane_now();

	f->applied = c->sequence;
	f->applied_after_ns = c->report_ns ? now - c->report_ns : 0;
	f->unanswered_ns = 0;
	f->fallback = 0;
	f->period_us = c->period_us;
	f->paced = c->pacing_rate != 0;
	if (c->cwnd)
		f->cwnd = c->cwnd < PLANE_MOST_PACKETS ? c->cwnd : PLANE_MOST_PACKETS;
	plane_set_window(sk, f->cwnd, 0);
	if (c->ssthresh)
		tp->snd_ssthresh = c->ssthresh;
	if (c->pacing_rate)
		sk->sk_pacing_rate = c->pacing_rate;
}

static __always_inline void plane_obey(struct sock *sk)
{
	struct plane_flow *f = plane_flow_of(sk);
	struct plane *plane = plane_of(sk);
	struct plane_command *at, command;
	__u32 index = f->index;

	if (index >= PLANE_FLOWS)
		return;
	at = &plane->commands[index];
	command.sequence = *(volatile __u64 *)&at->sequence;
	if (command.sequence == f->applied || at->generation != f->generation)
		return;
	command.report_ns = *(volatile __u64 *)&at->report_ns;
	command.pacing_rate = *(volatile __u64 *)&at->pacing_rate;
	command.cwnd = *(volatile __u32 *)&at->cwnd;
	command.ssthresh = *(volatile __u32 *)&at->ssthresh;
	command.period_us = *(volatile __u32 *)&at->period_us;
	if (*(volatile __u64 *)&at->sequence != command.sequence)
		return; /* It is being written: the next ACK or departure finds all of it. */
	plane_apply(sk, f, &command);
	plane_count(&plane->counters.commands);
}

/* Reno takes over from a policy that is silent. */
static __always_inline void plane_watch(struct sock *sk, __u64 now)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct plane_flow *f = plane_flow_of(sk);

	if (f->fallback || !f->unanswered_ns || now - f->unanswered_ns < PLANE_PATIENCE_NS)
		return;
	f->fallback = 1;
	f->paced = 0;
	if (tp->snd_ssthresh > tp->snd_cwnd)
		tp->snd_ssthresh = tp->snd_cwnd > 2 ? tp->snd_cwnd : 2;
	plane_count(&plane_of(sk)->counters.fallbacks);
}

static __always_inline void plane_sum(struct plane_flow *f, const struct rate_sample *rs)
{
	f->acks++;
	f->acked += rs->acked_sacked;
	if (rs->rtt_us > 0) {
		if (!f->rtt_count || rs->rtt_us < f->rtt_min_us)
			f->rtt_min_us = rs->rtt_us;
		f->rtt_sum_us += rs->rtt_us;
		f->rtt_count++;
	}
}

/*
 * Packets in flight when the newest one that this ACK acknowledges departed; 0: not known.
 * What departed since the last ACK departed at that one's total of delivered packets, and is
 * in flight as this ACK finds it.
 */
static __always_inline __u32 plane_tx_inflight(struct sock *sk, const struct rate_sample *rs)
{
	struct plane_flow *f = plane_flow_of(sk);
	struct plane_history *history = state_of(sk);
	__u32 at = f->delivered & (PLANE_HISTORY - 1);

	if (!history)
		return 0;
	history->at[at].delivered = f->delivered;
	history->at[at].inflight = rs->prior_in_flight;
	f->delivered = ((struct tcp_sock *)sk)->delivered;
	at = rs->prior_delivered & (PLANE_HISTORY - 1);
	return history->at[at].delivered == rs->prior_delivered ? history->at[at].inflight : 0;
}

static __always_inline void plane_init(struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct plane_flow *f = plane_flow_of(sk);
	struct plane *plane = plane_of(sk);
	__u32 index;

	__builtin_memset(f, 0, sizeof(*f));
	for (index = 0; index < PLANE_FLOWS; index++)
		if (!plane->slots[index].used &&
		    !__sync_val_compare_and_swap(&plane->slots[index].used, 0, 1))
			break;
	f->index = index;
	f->lost = tp->lost;
	f->delivered = tp->delivered;
	if (index < PLANE_FLOWS) {
		create_state(sk);
		f->generation = ++plane->slots[index].generation;
		if (!f->generation) /* 0: not initialised */
			f->generation = ++plane->slots[index].generation;
		plane_count(&plane->counters.flows);
	} else {
		f->fallback = 1;
		plane_count(&plane->counters.flows_refused);
	}
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
	plane_report(sk, PLANE_START, NULL, 0);
}

static __always_inline void plane_release(struct sock *sk)
{
	struct plane_flow *f = plane_flow_of(sk);
	__u32 index = f->index;

	if (!f->generation) /* A listener: released without having been initialised. */
		return;
	plane_report(sk, PLANE_END, NULL, 0);
	if (index < PLANE_FLOWS) {
		drop_state(sk);
		plane_of(sk)->slots[index].used = 0;
	}
	f->index = PLANE_FLOWS;
}

static __always_inline void plane_control(struct sock *sk, __u32 ack, const struct rate_sample *rs)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct plane_flow *f = plane_flow_of(sk);
	__u32 tx_inflight = f->index < PLANE_FLOWS ? plane_tx_inflight(sk, rs) : 0;
	__u64 now = plane_now();

	plane_sum(f, rs);
	plane_obey(sk);
	plane_watch(sk, now);
	if (!f->fallback)
		plane_set_window(sk, f->cwnd, rs->acked_sacked);
	else if (f->ca_state == TCP_CA_CWR || f->ca_state == TCP_CA_Recovery)
		plane_set_window(sk, tp->snd_ssthresh, rs->acked_sacked);
	else
		tcp_reno_cong_avoid(sk, ack, rs->acked_sacked);
	if (!f->paced)
		plane_pace_by_window(sk, tp);
	if (now - f->reported_ns >= (__u64)f->period_us * 1000 || tp->lost != f->lost)
		plane_report(sk, PLANE_ACKS, rs, tx_inflight);
}

static __always_inline void plane_set_state(struct sock *sk, __u8 state)
{
	struct plane_flow *f = plane_flow_of(sk);
	__u8 before = f->ca_state;

	f->ca_state = state;
	if (state < TCP_CA_Recovery || state == before)
		return;
	f->prr_delivered = 0;
	plane_report(sk, PLANE_STATE, NULL, 0);
}

static __always_inline __u32 plane_ssthresh(struct sock *sk)
{
	if (plane_flow_of(sk)->fallback)
		return tcp_reno_ssthresh(sk);
	return ((struct tcp_sock *)sk)->snd_ssthresh;
}

/*
 * The kernel takes back what it did at a loss that was none. The window from before holds until
 * the policy, which hears of it, gives another, and losses that it has not heard of were none.
 */
static __always_inline __u32 plane_undo(struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct plane_flow *f = plane_flow_of(sk);

	tp->snd_cwnd = tcp_reno_undo_cwnd(sk);
	if (f->cwnd && f->cwnd < tp->snd_cwnd)
		f->cwnd = tp->snd_cwnd;
	f->lost = tp->lost;
	plane_report(sk, PLANE_UNDO, NULL, 0);
	return tp->snd_cwnd;
}

#endif
