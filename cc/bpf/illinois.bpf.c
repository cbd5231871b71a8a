// SPDX-License-Identifier: GPL-2.0-only
/*
 * TCP Illinois (Liu, Başar and Srikant, "TCP-Illinois: A Loss- and Delay-Based
 * Congestion Control Algorithm for High-Speed Networks", VALUETOOLS 2006), for
 * kernels that lack it.
 *
 * Model. AIMD: the window W grows by α packets a round trip, and loses β·W at a
 * loss. Both follow da, the mean queueing delay of the last round trip, of which
 * dm is the largest ever (section 3):
 *
 *	α = αmax where da ≤ d1, else κ1/(κ2 + da): αmin at da = dm
 *	β = βmin where da ≤ d2, βmax where da ≥ d3, else linear between
 *
 * with d1 = dm/100, d2 = dm/10, d3 = 8·dm/10, α from 0.3 to 10, β from 1/8 to 1/2.
 * Below W_THRESH, and after a timeout, it is Reno: α = 1, β = 1/2. Once da was
 * above d1, α goes back to αmax only after THETA round trips below.
 *
 * What the paper leaves open is as in Linux, with whose window this is compared:
 * α in 1/128 and β in 1/64, and how divisions round.
 */
#include "congestion.h"

#ifndef W_THRESH
#define W_THRESH 15 /* parameter, 1 to 100000: packets of window, below which it is Reno */
#endif
#ifndef THETA
#define THETA 5 /* parameter, 1 to 1000: round trips without queue before the largest growth */
#endif

#define ALPHA_ONE     128
#define ALPHA_LEAST   (ALPHA_ONE * 3 / 10)
#define ALPHA_LARGEST (ALPHA_ONE * 10)
#define BETA_ONE      64
#define BETA_LEAST    (BETA_ONE / 8)
#define BETA_LARGEST  (BETA_ONE / 2)
#define LEAST_CWND    2
#define LARGEST_US    (0xffffffffu / ALPHA_LARGEST) /* 3.3 s: products stay below 2^32 */

char LICENSE[] SEC("license") = "GPL";

struct illinois {
	__u64 sum_us; /* of the samples of this round trip */
	__u32 samples;
	__u32 least_us, largest_us; /* RTTs of the connection */
	__u32 round_ends;	    /* with the ACK of this sequence number */
	__u32 alpha, beta;
	__u32 acked; /* packets, by the ACK in hand */
	__u32 calm_rounds;
	__u8 was_above; /* d1 */
};

static __always_inline void begin_round(const struct tcp_sock *tp, struct illinois *illinois)
{
	illinois->round_ends = tp->snd_nxt;
	illinois->samples = 0;
	illinois->sum_us = 0;
}

static __always_inline void be_reno(struct illinois *illinois)
{
	illinois->alpha = ALPHA_ONE;
	illinois->beta = BETA_LARGEST;
}

static __always_inline __u32 alpha_of(struct illinois *illinois, __u32 da, __u32 dm)
{
	__u32 d1 = dm / 100, range, above;

	if (da > d1) {
		illinois->was_above = 1;
		range = dm - d1;
		above = (da - d1) * (ALPHA_LARGEST - ALPHA_LEAST) / ALPHA_LEAST;
		return range * ALPHA_LARGEST / (range + above);
	}
	if (illinois->was_above) {
		if (++illinois->calm_rounds < THETA)
			return illinois->alpha;
		illinois->calm_rounds = 0;
		illinois->was_above = 0;
	}
	return ALPHA_LARGEST;
}

static __always_inline __u32 beta_of(__u32 da, __u32 dm)
{
	__u32 d2 = dm / 10, d3 = 8 * dm / 10;

	if (da <= d2)
		return BETA_LEAST;
	if (da >= d3 || d3 <= d2)
		return BETA_LARGEST;
	return (BETA_LEAST * (d3 - da) + BETA_LARGEST * (da - d2)) / (d3 - d2);
}

/* Once a round trip. */
static __always_inline void adapt(const struct tcp_sock *tp, struct illinois *illinois)
{
	__u32 da, dm;

	if (tp->snd_cwnd < W_THRESH) {
		be_reno(illinois);
	} else if (illinois->samples) {
		da = illinois->sum_us / illinois->samples - illinois->least_us;
		dm = illinois->largest_us - illinois->least_us;
		illinois->alpha = alpha_of(illinois, da, dm);
		illinois->beta = beta_of(da, dm);
	}
	begin_round(tp, illinois);
}

SEC("struct_ops/illinois_start")
void BPF_PROG(illinois_start, struct sock *sk)
{
	struct illinois *illinois = private_area(sk);

	__builtin_memset(illinois, 0, sizeof(*illinois));
	illinois->alpha = ALPHA_LARGEST;
	illinois->beta = BETA_LARGEST;
	illinois->least_us = 0x7fffffff;
	begin_round(tcp_sk(sk), illinois);
}

SEC("struct_ops/illinois_acked")
void BPF_PROG(illinois_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct illinois *illinois = private_area(sk);
	__u32 rtt_us = sample->rtt_us;

	illinois->acked = sample->pkts_acked;
	if (sample->rtt_us < 0)
		return;
	if (rtt_us > LARGEST_US)
		rtt_us = LARGEST_US;
	if (rtt_us < illinois->least_us)
		illinois->least_us = rtt_us;
	if (rtt_us > illinois->largest_us)
		illinois->largest_us = rtt_us;
	illinois->samples++;
	illinois->sum_us += rtt_us;
}

SEC("struct_ops/illinois_cong_avoid")
void BPF_PROG(illinois_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct illinois *illinois = private_area(sk);
	__u32 growth, cwnd = tp->snd_cwnd;

	if ((__s32)(ack - illinois->round_ends) > 0)
		adapt(tp, illinois);
	/* In slow start, half of a window in use is enough. */
	if (!is_cwnd_limited(tp) && !(cwnd < tp->snd_ssthresh && cwnd < 2 * tp->max_packets_out))
		return;
	if (cwnd < tp->snd_ssthresh) {
		tcp_slow_start(tp, acked);
		return;
	}
	tp->snd_cwnd_cnt += illinois->acked;
	illinois->acked = 1;
	growth = tp->snd_cwnd_cnt * illinois->alpha / ALPHA_ONE;
	if (growth >= cwnd && cwnd) {
		cwnd += growth / cwnd;
		tp->snd_cwnd = cwnd < tp->snd_cwnd_clamp ? cwnd : tp->snd_cwnd_clamp;
		tp->snd_cwnd_cnt = 0;
	}
}

SEC("struct_ops/illinois_set_state")
void BPF_PROG(illinois_set_state, struct sock *sk, __u8 state)
{
	struct illinois *illinois = private_area(sk);

	if (state != TCP_CA_Loss)
		return;
	be_reno(illinois);
	illinois->calm_rounds = 0;
	illinois->was_above = 0;
	begin_round(tcp_sk(sk), illinois);
}

SEC("struct_ops/illinois_ssthresh")
__u32 BPF_PROG(illinois_ssthresh, struct sock *sk)
{
	const struct illinois *illinois = private_area(sk);
	__u32 cwnd = tcp_sk(sk)->snd_cwnd, left = cwnd - cwnd * illinois->beta / BETA_ONE;

	return left < LEAST_CWND ? LEAST_CWND : left;
}

SEC("struct_ops/illinois_undo_cwnd")
__u32 BPF_PROG(illinois_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops")
struct tcp_congestion_ops illinois = {
	.init = (void *)illinois_start,
	.cong_avoid = (void *)illinois_cong_avoid,
	.pkts_acked = (void *)illinois_acked,
	.set_state = (void *)illinois_set_state,
	.ssthresh = (void *)illinois_ssthresh,
	.undo_cwnd = (void *)illinois_undo_cwnd,
	.name = "illinois",
};
