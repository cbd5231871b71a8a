// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
/*
 * BBRv3 (Cardwell, Swett and Beshay, "BBR Congestion Control",
 * draft-ietf-ccwg-bbr): bbr_model.h says what it does, this its numbers.
 *
 * Gains: Startup paces at 4·ln 2 = 2.77, Drain at 0.5, ProbeBW at 0.9, 1, 1 and
 * 1.25, ProbeRTT at 1; windows are 2 BDP, in ProbeBW_UP 2.25, in ProbeRTT 0.5.
 * ProbeBW_UP ends when the bandwidth grows no more, or at too many losses.
 */
#define STARTUP_PACING_GAIN (GAIN * 277 / 100)
#define STARTUP_CWND_GAIN   (GAIN * 2)
#define DRAIN_PACING_GAIN   (GAIN / 2)
#define DOWN_PACING_GAIN    (GAIN * 90 / 100)
#define UP_CWND_GAIN	    (GAIN * 9 / 4)
#define STARTUP_FULL_LOSSES 6 /* in a round trip */
#define UP_UNTIL_PLATEAU    true
#define PRECAUTION	    true

#include "bbr_model.h"

char LICENSE[] SEC("license") = "GPL";

SEC("struct_ops/bbr3_init")
void BPF_PROG(bbr3_init, struct sock *sk)
{
	bbr_on_init(sk);
}

SEC("struct_ops/bbr3_release")
void BPF_PROG(bbr3_release, struct sock *sk)
{
	drop_state(sk);
}

SEC("struct_ops/bbr3_control")
void CONG_CONTROL(bbr3_control, struct sock *sk, const struct rate_sample *rs)
{
	bbr_on_ack(sk, rs);
}

SEC("struct_ops/bbr3_ssthresh")
__u32 BPF_PROG(bbr3_ssthresh, struct sock *sk)
{
	bbr_on_congestion(sk);
	return tcp_sk(sk)->snd_ssthresh; /* not used */
}

SEC("struct_ops/bbr3_set_state")
void BPF_PROG(bbr3_set_state, struct sock *sk, __u8 state)
{
	bbr_on_state(sk, state);
}

SEC("struct_ops/bbr3_cwnd_event")
void BPF_PROG(bbr3_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	if (event == CA_EVENT_TX_START)
		bbr_on_transmit_start(sk);
}

SEC("struct_ops/bbr3_undo_cwnd")
__u32 BPF_PROG(bbr3_undo_cwnd, struct sock *sk)
{
	return bbr_on_undo(sk);
}

SEC("struct_ops/bbr3_min_tso_segs")
__u32 BPF_PROG(bbr3_min_tso_segs, struct sock *sk)
{
	return 2;
}

SEC(".struct_ops")
struct tcp_congestion_ops bbr3 = {
	.init = (void *)bbr3_init,
	.release = (void *)bbr3_release,
	.cong_control = (void *)bbr3_control,
	.ssthresh = (void *)bbr3_ssthresh,
	.set_state = (void *)bbr3_set_state,
	.cwnd_event = (void *)bbr3_cwnd_event,
	.undo_cwnd = (void *)bbr3_undo_cwnd,
	.min_tso_segs = (void *)bbr3_min_tso_segs,
	.name = "bbr3",
};
