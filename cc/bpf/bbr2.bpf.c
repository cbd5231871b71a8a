// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
/*
 * BBRv2 (Cardwell et al., "BBR v2: A Model-based Congestion Control", slides of
 * ICCRG at IETF 104, 105 and 106, 2019): bbr_model.h says what it shares with
 * BBRv3, this its numbers.
 *
 * Gains: Startup paces at 2/ln 2 = 2.89 with as large a window, Drain at its
 * inverse, ProbeBW at 0.75, 1, 1 and 1.25; windows are 2 BDP, in ProbeRTT 0.5.
 * ProbeBW_UP ends when 1.25 BDP are in flight, or at too many losses. ECN, which
 * BBRv2 uses within data centres, is left out.
 */
#define STARTUP_PACING_GAIN (GAIN * 2885 / 1000)
#define STARTUP_CWND_GAIN   (GAIN * 2885 / 1000)
#define DRAIN_PACING_GAIN   (GAIN * 1000 / 2885)
#define DOWN_PACING_GAIN    (GAIN * 3 / 4)
#define UP_CWND_GAIN	    (GAIN * 2)
#define STARTUP_FULL_LOSSES 8 /* in a round trip */
#define UP_UNTIL_PLATEAU    false
#define PRECAUTION	    false

#include "bbr_model.h"

char LICENSE[] SEC("license") = "GPL";

SEC("struct_ops/bbr2_init")
void BPF_PROG(bbr2_init, struct sock *sk)
{
	bbr_on_init(sk);
}

SEC("struct_ops/bbr2_release")
void BPF_PROG(bbr2_release, struct sock *sk)
{
	drop_state(sk);
}

SEC("struct_ops/bbr2_control")
void CONG_CONTROL(bbr2_control, struct sock *sk, const struct rate_sample *rs)
{
	bbr_on_ack(sk, rs);
}

SEC("struct_ops/bbr2_ssthresh")
__u32 BPF_PROG(bbr2_ssthresh, struct sock *sk)
{
	bbr_on_congestion(sk);
	return tcp_sk(sk)->snd_ssthresh; /* not used */
}

SEC("struct_ops/bbr2_set_state")
void BPF_PROG(bbr2_set_state, struct sock *sk, __u8 state)
{
	bbr_on_state(sk, state);
}

SEC("struct_ops/bbr2_cwnd_event")
void BPF_PROG(bbr2_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	if (event == CA_EVENT_TX_START)
		bbr_on_transmit_start(sk);
}

SEC("struct_ops/bbr2_undo_cwnd")
__u32 BPF_PROG(bbr2_undo_cwnd, struct sock *sk)
{
	return bbr_on_undo(sk);
}

SEC("struct_ops/bbr2_min_tso_segs")
__u32 BPF_PROG(bbr2_min_tso_segs, struct sock *sk)
{
	return 2;
}

SEC(".struct_ops")
struct tcp_congestion_ops bbr2 = {
	.init = (void *)bbr2_init,
	.release = (void *)bbr2_release,
	.cong_control = (void *)bbr2_control,
	.ssthresh = (void *)bbr2_ssthresh,
	.set_state = (void *)bbr2_set_state,
	.cwnd_event = (void *)bbr2_cwnd_event,
	.undo_cwnd = (void *)bbr2_undo_cwnd,
	.min_tso_segs = (void *)bbr2_min_tso_segs,
	.name = "bbr2",
};
