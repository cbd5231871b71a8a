// SPDX-License-Identifier: GPL-2.0-only
/*
 * TCP Vegas (Brakmo and Peterson, "TCP Vegas: End to End Congestion Avoidance on
 * a Global Internet", IEEE JSAC 13(8), 1995), for kernels that lack it.
 *
 * Model. Of the window W the part
 *
 *	Diff = W · (RTT - BaseRTT) / BaseRTT
 *
 * waits in queues; BaseRTT is the least RTT of the connection, RTT the least of
 * the last round trip. Once a round trip W grows by a packet if Diff < ALPHA and
 * shrinks by one if Diff > BETA. Slow start ends when Diff > GAMMA, with the
 * window that would have had no queue, W · BaseRTT/RTT, and one packet more.
 *
 * What the paper leaves open is as in Linux, with whose window this is compared:
 * ALPHA, BETA and GAMMA; Diff by BaseRTT, in whole packets; Reno while losses are
 * repaired and where a round trip has at most two samples of the RTT; ssthresh
 * follows the window at 3/4 of it.
 */
#include "congestion.h"

#ifndef ALPHA
#define ALPHA 2 /* parameter, 1 to 1000: packets in queues, at least */
#endif
#ifndef BETA
#define BETA 4 /* parameter, ALPHA to 1000: packets in queues, at most */
#endif
#ifndef GAMMA
#define GAMMA 1 /* parameter, 0 to 1000: packets in queues that end slow start */
#endif

#define LEAST_CWND    2
#define LEAST_SAMPLES 3
#define NONE	      0x7fffffff

char LICENSE[] SEC("license") = "GPL";

struct vegas {
	__u32 base_us, least_us; /* BaseRTT and RTT */
	__u32 samples;		 /* in this round trip */
	__u32 round_ends;	 /* with the ACK of this sequence number */
	__u8 repairing;
};

static __always_inline void begin_round(const struct tcp_sock *tp, struct vegas *vegas)
{
	vegas->round_ends = tp->snd_nxt;
	vegas->samples = 0;
	vegas->least_us = NONE;
}

static __always_inline void begin(struct sock *sk)
{
	struct vegas *vegas = private_area(sk);

	vegas->base_us = NONE;
	vegas->repairing = 0;
	begin_round(tcp_sk(sk), vegas);
}

static __always_inline bool in_slow_start(const struct tcp_sock *tp)
{
	return tp->snd_cwnd < tp->snd_ssthresh;
}

static __always_inline void lower_ssthresh(struct tcp_sock *tp)
{
	if (tp->snd_cwnd < tp->snd_ssthresh)
		tp->snd_ssthresh = tp->snd_cwnd;
}

/* Once a round trip. */
static __always_inline void adjust(struct tcp_sock *tp, const struct vegas *vegas, __u32 acked)
{
	__u32 cwnd = tp->snd_cwnd, base_us = vegas->base_us, rtt_us = vegas->least_us;
	__u32 queued = cwnd * (rtt_us - base_us) / base_us;
	__u32 without_queue = (__u64)cwnd * base_us / rtt_us + 1;

	if (in_slow_start(tp) && queued > GAMMA) {
		tp->snd_cwnd = cwnd < without_queue ? cwnd : without_queue;
		lower_ssthresh(tp);
	} else if (in_slow_start(tp)) {
		tcp_slow_start(tp, acked);
	} else if (queued > BETA) {
		tp->snd_cwnd = cwnd - 1;
		lower_ssthresh(tp);
	} else if (queued < ALPHA) {
		tp->snd_cwnd = cwnd + 1;
	}
	cwnd = tp->snd_cwnd;
	if (cwnd < LEAST_CWND)
		tp->snd_cwnd = LEAST_CWND;
	else if (cwnd > tp->snd_cwnd_clamp)
		tp->snd_cwnd = tp->snd_cwnd_clamp;
	cwnd = tp->snd_cwnd;
	if (tp->snd_ssthresh < cwnd / 2 + cwnd / 4)
		tp->snd_ssthresh = cwnd / 2 + cwnd / 4;
}

SEC("struct_ops/vegas_start")
void BPF_PROG(vegas_start, struct sock *sk)
{
	begin(sk);
}

SEC("struct_ops/vegas_acked")
void BPF_PROG(vegas_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct vegas *vegas = private_area(sk);
	__u32 rtt_us = sample->rtt_us + 1; /* never 0 */

	if (sample->rtt_us < 0)
		return;
	if (rtt_us < vegas->base_us)
		vegas->base_us = rtt_us;
	if (rtt_us < vegas->least_us)
		vegas->least_us = rtt_us;
	vegas->samples++;
}

SEC("struct_ops/vegas_cong_avoid")
void BPF_PROG(vegas_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct vegas *vegas = private_area(sk);

	if (vegas->repairing) {
		tcp_reno_cong_avoid(sk, ack, acked);
	} else if ((__s32)(ack - vegas->round_ends) > 0) {
		if (vegas->samples < LEAST_SAMPLES)
			tcp_reno_cong_avoid(sk, ack, acked);
		else
			adjust(tp, vegas, acked);
		begin_round(tp, vegas);
	} else if (in_slow_start(tp)) {
		tcp_slow_start(tp, acked);
	}
}

SEC("struct_ops/vegas_set_state")
void BPF_PROG(vegas_set_state, struct sock *sk, __u8 state)
{
	struct vegas *vegas = private_area(sk);

	vegas->repairing = state != TCP_CA_Open;
	if (!vegas->repairing)
		begin_round(tcp_sk(sk), vegas);
}

SEC("struct_ops/vegas_cwnd_event")
void BPF_PROG(vegas_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	/* After an idle time nothing is known of the path. */
	if (event == CA_EVENT_CWND_RESTART || event == CA_EVENT_TX_START)
		begin(sk);
}

SEC("struct_ops/vegas_ssthresh")
__u32 BPF_PROG(vegas_ssthresh, struct sock *sk)
{
	return tcp_reno_ssthresh(sk);
}

SEC("struct_ops/vegas_undo_cwnd")
__u32 BPF_PROG(vegas_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops")
struct tcp_congestion_ops vegas = {
	.init = (void *)vegas_start,
	.cong_avoid = (void *)vegas_cong_avoid,
	.pkts_acked = (void *)vegas_acked,
	.set_state = (void *)vegas_set_state,
	.cwnd_event = (void *)vegas_cwnd_event,
	.ssthresh = (void *)vegas_ssthresh,
	.undo_cwnd = (void *)vegas_undo_cwnd,
	.name = "vegas",
};
