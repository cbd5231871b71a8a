// SPDX-License-Identifier: GPL-2.0-only
/*
 * C2TCP above the kernel's CUBIC (Abbasloo, Xu and Chao, "C2TCP: A Flexible
 * Cellular TCP to Meet Stringent Delay Requirements", IEEE JSAC 37(4), 2019).
 *
 * Model. Setpoint = α · minRTT. As CoDel does in a queue, the sender looks at the
 * least RTT of an Interval:
 *
 *	good	RTT < Setpoint: the window W grows by Setpoint/RTT packets a round
 *		trip, besides what CUBIC adds
 *	normal	the RTT has been above for less than an Interval: CUBIC alone
 *	bad	it has been above for a whole Interval: ssthresh as CUBIC sets it
 *		after a loss, and W = 1; again after Interval, Interval/√2, Interval/√3,
 *		… while it stays above
 *
 * Interval = Setpoint, and α = 2 by default, as in the kernel patch that the authors
 * published for Linux 4.13 (their repository, c2tcp_pkts_acked). Their first version has
 * both as settings, and they ran it with 100 ms for each. What differs from that patch:
 *	- There an ACK below Setpoint adds Setpoint/RTT, rounded down to whole packets,
 *	  however many packets it acknowledges, to CUBIC's own count of the growth, also in
 *	  slow start. Here it adds Setpoint/RTT for each packet, in thousandths, to a count of
 *	  its own, above ssthresh only and where the window limits the flow.
 *	- There times are whole milliseconds, and one of Newton's steps for each back-off is
 *	  in place of the square root: 1, 0.5, 0.56, 0.49, … Intervals between back-offs, here
 *	  1, 0.71, 0.58, 0.5, …
 *	- There minRTT is that of the whole connection; here the kernel's, of the last five
 *	  minutes.
 */
#include "congestion.h"
#include "cubic.h"

#ifndef ALPHA
#define ALPHA 2.0 /* parameter, 1.01 to 100: Setpoint as a multiple of the least RTT */
#endif

#define PERMILLE (1000ull)

char LICENSE[] SEC("license") = "GPL";

struct c2tcp {
	__u64 cubic[CUBIC_STATE / 8];
	__u32 bad_after; /* time, µs */
	__u32 backoffs;	 /* since the RTT was below Setpoint */
	__u32 growth;	 /* of the window in the good condition, in thousandths of a packet */
	__u8 above;	 /* Setpoint */
};

/* 256·√number for numbers below 65536, by its binary digits. */
static __always_inline __u32 root_256(__u32 number)
{
	__u32 square = (number < 65535 ? number : 65535) << 16, root = 0, bit;
	int at;

	for (at = 15; at >= 0; at--) {
		bit = root | 1u << at;
		if ((__u64)bit * bit <= square)
			root = bit;
	}
	return root;
}

static __always_inline void grow(struct tcp_sock *tp, struct c2tcp *c2tcp, __u32 setpoint_us,
				 __u32 rtt_us, __u32 acked)
{
	__u64 one_packet = PERMILLE * tp->snd_cwnd;

	if (!is_cwnd_limited(tp) || tp->snd_cwnd < tp->snd_ssthresh)
		return; /* Slow start is faster. */
	c2tcp->growth += PERMILLE * acked * setpoint_us / rtt_us;
	if (c2tcp->growth >= one_packet && tp->snd_cwnd < tp->snd_cwnd_clamp) {
		c2tcp->growth -= one_packet;
		tp->snd_cwnd++;
	}
}

static __always_inline void back_off(struct sock *sk, struct c2tcp *c2tcp, __u32 now,
				     __u32 interval_us)
{
	struct tcp_sock *tp = tcp_sk(sk);

	c2tcp->backoffs++;
	c2tcp->bad_after = now + (__u64)interval_us * 256 / root_256(c2tcp->backoffs);
	tp->snd_ssthresh = cubictcp_recalc_ssthresh(sk);
	tp->snd_cwnd = 1;
	c2tcp->growth = 0;
}

SEC("struct_ops/c2tcp_acked")
void BPF_PROG(c2tcp_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct c2tcp *c2tcp = private_area(sk);
	__u32 now = tp->tcp_mstamp, setpoint_us = tp->rtt_min.s[0].v * (__u64)(ALPHA * 1000) / 1000;

	cubictcp_acked(sk, sample);
	if (sample->rtt_us <= 0)
		return;
	if ((__u32)sample->rtt_us < setpoint_us) {
		c2tcp->above = 0;
		c2tcp->backoffs = 0;
		grow(tp, c2tcp, setpoint_us, sample->rtt_us, sample->pkts_acked);
	} else if (!c2tcp->above) {
		c2tcp->above = 1;
		c2tcp->bad_after = now + setpoint_us;
	} else if ((__s32)(now - c2tcp->bad_after) > 0) {
		back_off(sk, c2tcp, now, setpoint_us);
	}
}

SEC("struct_ops/c2tcp_init")
void BPF_PROG(c2tcp_init, struct sock *sk)
{
	__builtin_memset(private_area(sk), 0, sizeof(struct c2tcp));
	cubictcp_init(sk);
}

SEC("struct_ops/c2tcp_cong_avoid")
void BPF_PROG(c2tcp_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	cubictcp_cong_avoid(sk, ack, acked);
}

SEC("struct_ops/c2tcp_ssthresh")
__u32 BPF_PROG(c2tcp_ssthresh, struct sock *sk)
{
	return cubictcp_recalc_ssthresh(sk);
}

SEC("struct_ops/c2tcp_set_state")
void BPF_PROG(c2tcp_set_state, struct sock *sk, __u8 state)
{
	cubictcp_state(sk, state);
}

SEC("struct_ops/c2tcp_cwnd_event")
void BPF_PROG(c2tcp_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	cubictcp_cwnd_event(sk, event);
}

SEC("struct_ops/c2tcp_undo_cwnd")
__u32 BPF_PROG(c2tcp_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops")
struct tcp_congestion_ops c2tcp = {
	.init = (void *)c2tcp_init,
	.cong_avoid = (void *)c2tcp_cong_avoid,
	.ssthresh = (void *)c2tcp_ssthresh,
	.set_state = (void *)c2tcp_set_state,
	.cwnd_event = (void *)c2tcp_cwnd_event,
	.pkts_acked = (void *)c2tcp_acked,
	.undo_cwnd = (void *)c2tcp_undo_cwnd,
	.name = "c2tcp",
};
