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
#define GROWING_BW	    rs->delivery_rate
#define STARTUP_LOSS_KEEPS  bbr->inflight_latest
#define DRAIN_ROUNDS	    3
#define JUDGES_EACH_ACK	    false
#define AT_DEPARTURE	    false
#define EXTRA_ACKED_MOST_US INFINITE
#define EQUAL_RTT_RENEWS    false
#define RESTORES_CWND_AFTER TCP_CA_Recovery

#include "bbr_model.h"

char LICENSE[] SEC("license") = "GPL";

SEC(".struct_ops")
struct tcp_congestion_ops bbr3 = {
	.init = (void *)bbr_init,
	.release = (void *)bbr_release,
	.cong_control = (void *)bbr_control,
	.ssthresh = (void *)bbr_ssthresh,
	.set_state = (void *)bbr_set_state,
	.cwnd_event = (void *)bbr_cwnd_event,
	.undo_cwnd = (void *)bbr_undo_cwnd,
	.min_tso_segs = (void *)bbr_min_tso_segs,
	.name = "bbr3",
};
