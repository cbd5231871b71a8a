// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
/*
 * AIMD: the congestion control to copy from (docs/congestion-controls.md).
 *
 * Model (Chiu and Jain, 1989): without loss the window W grows by ALPHA packets
 * in each round trip; after a loss it becomes BETA · W. With ALPHA = 1 packet
 * and BETA = 1/2 this is TCP Reno (RFC 5681, equations 2 to 4) without its
 * limits in recovery, which the kernel keeps for every congestion control (PRR,
 * RFC 6937).
 *
 * State: snd_cwnd and snd_ssthresh of the socket, none of its own.
 */
#include "congestion.h"

#define ALPHA	     1	/* packets per round trip */
#define BETA_PERCENT 50 /* of the window, kept after a loss */
#define LEAST_CWND   2	/* packets, RFC 5681 section 3.1: at least 2 segments */

char LICENSE[] SEC("license") = "GPL";

SEC("struct_ops/aimd_cong_avoid")
void BPF_PROG(aimd_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u32 per_packet;

	if (!is_cwnd_limited(tp))
		return; /* The application, not the window, limits the flow. */
	if (tp->snd_cwnd < tp->snd_ssthresh) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	/* One packet more for each W/ALPHA that are acknowledged; the kernel divides by that. */
	per_packet = tp->snd_cwnd / ALPHA;
	tcp_cong_avoid_ai(tp, per_packet ? per_packet : 1, acked);
}

SEC("struct_ops/aimd_ssthresh")
__u32 BPF_PROG(aimd_ssthresh, struct sock *sk)
{
	__u32 cwnd = (__u64)tcp_sk(sk)->snd_cwnd * BETA_PERCENT / 100;

	return cwnd < LEAST_CWND ? LEAST_CWND : cwnd;
}

SEC("struct_ops/aimd_undo_cwnd")
__u32 BPF_PROG(aimd_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops")
struct tcp_congestion_ops aimd = {
	.cong_avoid = (void *)aimd_cong_avoid,
	.ssthresh = (void *)aimd_ssthresh,
	.undo_cwnd = (void *)aimd_undo_cwnd,
	.name = "aimd",
};
