// SPDX-License-Identifier: Apache-2.0
/* What BBRv2's authors' kernel does and the draft of BBRv3 does not. */
#include "fake_kernel.h"
#include "bbr2.bpf.c"

/* A connection that probes, at 1 packet a ms and 20 ms: a BDP of 20 packets. */
static struct bbr *begin(struct tcp_sock *tp)
{
	struct bbr *bbr;

	*tp = connection();
	bbr_init((struct sock *)tp);
	bbr = state_of((struct sock *)tp);
	bbr->full_bw_reached = bbr->measured = true;
	bbr->bw = bbr->max_bw[0] = (1ull << BW_SCALE) / 1000;
	bbr->min_rtt = bbr->probe_rtt_min_delay = 20000;
	bbr->state = PROBE_BW_UP;
	bbr->is_bw_probe_sample = true;
	bbr->cycle_stamp = tp->tcp_mstamp;
	bbr->bw_probe_wait = 2000000;
	bbr->next_round_delivered = 1000000; /* no round ends */
	tp->snd_cwnd = 40;
	tp->packets_out = 22;
	return bbr;
}

static void ack(struct tcp_sock *tp, __u32 departed)
{
	struct rate_sample rs = acknowledge(tp, 1, departed);

	bbr_control((struct sock *)tp, 0, 0, &rs);
}

static void an_rtt_as_short_as_the_least_puts_the_next_probe_off(void)
{
	struct tcp_sock tp;
	struct bbr *bbr = begin(&tp);

	tp.tcp_mstamp += 4000000;
	ack(&tp, tp.delivered);
	tp.tcp_mstamp += 4000000;
	ack(&tp, tp.delivered);
	EXPECT(bbr->state, !=, PROBE_RTT);
	EXPECT(bbr->min_rtt_stamp, ==, tp.tcp_mstamp);
}

/* The loss was found before the probe, and after the departure of what is acknowledged. */
static void a_loss_since_a_departure_counts_with_any_ack(void)
{
	struct tcp_sock tp;
	struct bbr *bbr = begin(&tp);
	__u32 departed = tp.delivered;

	bbr->is_bw_probe_sample = false;
	ack(&tp, departed);
	tp.lost = tp.lost_out = 2;
	ack(&tp, tp.delivered);
	EXPECT(bbr->state, ==, PROBE_BW_UP);
	bbr->is_bw_probe_sample = true;
	ack(&tp, departed);
	EXPECT(bbr->state, !=, PROBE_BW_UP);
	EXPECT(bbr->prev_probe_too_high, ==, true);
}

/* 1.25 BDP are 25 packets, and 2 more in ProbeBW_UP: 27. */
static void a_probe_ends_by_what_the_next_departure_adds(void)
{
	struct tcp_sock tp;
	struct bbr *bbr = begin(&tp);

	tp.tcp_mstamp += 30000;
	tp.packets_out = 24; /* and 2 that leave */
	ack(&tp, tp.delivered);
	EXPECT(bbr->state, ==, PROBE_BW_UP);
	tp.packets_out = 25;
	tp.tcp_clock_cache = 1000000000;
	tp.tcp_wstamp_ns = tp.tcp_clock_cache + 2000000; /* until when 2 are delivered */
	ack(&tp, tp.delivered);
	EXPECT(bbr->state, ==, PROBE_BW_UP);
	tp.tcp_wstamp_ns = 0;
	tp.packets_out = 25;
	ack(&tp, tp.delivered);
	EXPECT(bbr->state, ==, PROBE_BW_DOWN);
}

static void the_window_returns_after_a_timeout_only(void)
{
	struct tcp_sock tp;

	begin(&tp);
	bbr_ssthresh((struct sock *)&tp);
	bbr_set_state((struct sock *)&tp, TCP_CA_Recovery);
	tp.snd_cwnd = 10;
	bbr_set_state((struct sock *)&tp, TCP_CA_Open);
	EXPECT(tp.snd_cwnd, ==, 10);
	tp.snd_cwnd = 40;
	bbr_ssthresh((struct sock *)&tp);
	tp.snd_cwnd = 1;
	bbr_set_state((struct sock *)&tp, TCP_CA_Loss);
	bbr_set_state((struct sock *)&tp, TCP_CA_Open);
	EXPECT(tp.snd_cwnd, ==, 40);
}

int main(void)
{
	an_rtt_as_short_as_the_least_puts_the_next_probe_off();
	a_loss_since_a_departure_counts_with_any_ack();
	a_probe_ends_by_what_the_next_departure_adds();
	the_window_returns_after_a_timeout_only();
	return 0;
}
