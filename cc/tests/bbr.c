// SPDX-License-Identifier: Apache-2.0
/* BBRv3 and timers: losses that they mark, and those that were none. */
#include "fake_kernel.h"
#include "bbr3.bpf.c"

/* A connection in ProbeBW_CRUISE, with a limit of 100 packets and a flight of 50. */
static struct bbr *begin(struct tcp_sock *tp)
{
	struct bbr *bbr;

	*tp = connection();
	bbr_init((struct sock *)tp);
	bbr = state_of((struct sock *)tp);
	bbr->state = PROBE_BW_CRUISE;
	bbr->full_bw_reached = true;
	bbr->inflight_longterm = 100;
	bbr->cycle_stamp = tp->tcp_mstamp;
	bbr->bw_probe_wait = 2000000;
	tp->packets_out = 50;
	return bbr;
}

static void next_ack(struct tcp_sock *tp)
{
	struct rate_sample rs = acknowledge(tp, 1, tp->delivered);

	bbr_control((struct sock *)tp, 0, 0, &rs);
}

static void time_out(struct tcp_sock *tp, __u32 packets)
{
	tp->lost += packets;
	tp->lost_out = packets;
	bbr_ssthresh((struct sock *)tp);
	tp->snd_cwnd = 1;
	bbr_set_state((struct sock *)tp, TCP_CA_Loss);
}

static void undo(struct tcp_sock *tp)
{
	tp->lost_out = 0;
	tp->snd_cwnd = bbr_undo_cwnd((struct sock *)tp);
	bbr_set_state((struct sock *)tp, TCP_CA_Open);
}

static void losses_that_a_timer_marks(void)
{
	struct tcp_sock tp;
	struct bbr *bbr = begin(&tp);

	next_ack(&tp);
	time_out(&tp, 20);
	next_ack(&tp);
	EXPECT(bbr->losses_in_round, ==, 1);
	EXPECT(bbr->lost, ==, 20);
	next_ack(&tp);
	EXPECT(bbr->lost, ==, 20);
}

static void losses_of_a_spurious_timeout_do_not_count(void)
{
	struct tcp_sock tp;
	struct bbr *bbr = begin(&tp);

	next_ack(&tp);
	time_out(&tp, 20);
	undo(&tp);
	next_ack(&tp);
	EXPECT(bbr->losses_in_round, ==, 0);
	EXPECT(bbr->lost, ==, 0);
	EXPECT(bbr->inflight_longterm, ==, 100);
}

static void a_spurious_timeout_undoes_no_older_loss(void)
{
	struct tcp_sock tp;
	struct bbr *bbr = begin(&tp);
	struct rate_sample rs;

	bbr->inflight_longterm = 500;
	bbr_ssthresh((struct sock *)&tp);
	bbr_set_state((struct sock *)&tp, TCP_CA_Recovery);
	tp.lost = 3;
	rs = acknowledge(&tp, 1, tp.delivered);
	rs.losses = 3;
	bbr_control((struct sock *)&tp, 0, 0, &rs);
	bbr_set_state((struct sock *)&tp, TCP_CA_Open);
	bbr->inflight_longterm = 100; /* what the loss showed */
	time_out(&tp, 20);
	undo(&tp);
	EXPECT(bbr->inflight_longterm, ==, 100);
}

static void an_undo_returns_to_the_state_that_the_loss_ended(void)
{
	struct tcp_sock tp;
	struct bbr *bbr = begin(&tp);

	bbr->state = STARTUP;
	time_out(&tp, 20);
	bbr->state = DRAIN;
	undo(&tp);
	EXPECT(bbr->state, ==, STARTUP);
	EXPECT(bbr->full_bw_reached, ==, false);
	bbr->state = PROBE_BW_UP;
	time_out(&tp, 20);
	start_probe_bw_down(&tp, bbr, tp.tcp_mstamp);
	undo(&tp);
	EXPECT(bbr->state, ==, PROBE_BW_UP);
	EXPECT(bbr->is_bw_probe_sample, ==, true);
	bbr->state = PROBE_BW_CRUISE;
	time_out(&tp, 20);
	undo(&tp);
	EXPECT(bbr->state, ==, PROBE_BW_CRUISE);
}

int main(void)
{
	losses_that_a_timer_marks();
	losses_of_a_spurious_timeout_do_not_count();
	a_spurious_timeout_undoes_no_older_loss();
	an_undo_returns_to_the_state_that_the_loss_ended();
	return 0;
}
