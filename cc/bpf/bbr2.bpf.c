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
 *
 * What the slides leave open is as the authors' kernel behaves (google/bbr, branch
 * v2alpha), with which docs/validation.md compares this: any ACK of a probe may find
 * that too many packets were lost since a departure; a probe counts what is in flight
 * at the next departure; an RTT that equals the least one puts ProbeRTT off; at most
 * 100 ms of excess ACKs widen the window.
 */
#define STARTUP_PACING_GAIN (GAIN * 2885 / 1000)
#define STARTUP_CWND_GAIN   (GAIN * 2885 / 1000)
#define DRAIN_PACING_GAIN   (GAIN * 1000 / 2885)
#define DOWN_PACING_GAIN    (GAIN * 3 / 4)
#define UP_CWND_GAIN	    (GAIN * 2)
#define STARTUP_FULL_LOSSES 8 /* in a round trip */
#define UP_UNTIL_PLATEAU    false
#define PRECAUTION	    false
#define GROWING_BW	    max_bw(bbr)
#define STARTUP_LOSS_KEEPS  0
#define DRAIN_ROUNDS	    INFINITE
#define JUDGES_EACH_ACK	    true
#define AT_DEPARTURE	    true
#define EQUAL_RTT_RENEWS    true
#define EXTRA_ACKED_MOST_US 100000
#define RESTORES_CWND_AFTER TCP_CA_Loss

#include "bbr_model.h"

char LICENSE[] SEC("license") = "GPL";

SEC(".struct_ops")
struct tcp_congestion_ops bbr2 = {
	.init = (void *)bbr_init,
	.release = (void *)bbr_release,
	.cong_control = (void *)bbr_control,
	.ssthresh = (void *)bbr_ssthresh,
	.set_state = (void *)bbr_set_state,
	.cwnd_event = (void *)bbr_cwnd_event,
	.undo_cwnd = (void *)bbr_undo_cwnd,
	.min_tso_segs = (void *)bbr_min_tso_segs,
	.name = "bbr2",
};
