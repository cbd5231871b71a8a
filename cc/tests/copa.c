// SPDX-License-Identifier: Apache-2.0
/* Copa and timers: losses that they mark, and those that were none. */
#include "fake_kernel.h"
#include "copa.bpf.c"

static struct copa *begin(struct tcp_sock *tp)
{
	*tp = connection();
	copa_init((struct sock *)tp);
	tp->packets_out = 50;
	return private_area((struct sock *)tp);
}

static void time_out(struct tcp_sock *tp)
{
	tp->lost += 20;
	copa_ssthresh((struct sock *)tp);
	tp->snd_cwnd = 1;
	copa_set_state((struct sock *)tp, TCP_CA_Loss);
}

static void losses_that_a_timer_marks(void)
{
	struct tcp_sock tp;
	struct copa *copa = begin(&tp);
	struct rate_sample rs = acknowledge(&tp, 1, 1);

	copa->round_ends = 10;
	tp.lost = 5;
	copa_control((struct sock *)&tp, 0, 0, &rs);
	EXPECT(copa->lost, ==, 1);
	copa->lost = 0;
	copa_control((struct sock *)&tp, 0, 0, &rs);
	EXPECT(copa->lost, ==, 0);
}

static void a_spurious_timeout_gives_the_window_back(void)
{
	struct tcp_sock tp;
	struct copa *copa = begin(&tp);
	struct rate_sample rs = acknowledge(&tp, 1, 1);

	copa->window = 40 * ONE;
	copa->slow_start = 0;
	copa->round_ends = 10;
	time_out(&tp);
	EXPECT(copa->window, ==, LEAST_WINDOW);
	tp.snd_cwnd = copa_undo_cwnd((struct sock *)&tp);
	copa_set_state((struct sock *)&tp, TCP_CA_Open);
	EXPECT(tp.snd_cwnd, ==, 40);
	EXPECT(copa->slow_start, ==, 0);
	copa_control((struct sock *)&tp, 0, 0, &rs);
	EXPECT(tp.snd_cwnd, >=, 40);
	EXPECT(copa->lost, ==, 0);
}

static void an_undo_without_a_timeout_keeps_the_window(void)
{
	struct tcp_sock tp;
	struct copa *copa = begin(&tp);

	copa->window = 40 * ONE;
	time_out(&tp);
	copa_set_state((struct sock *)&tp, TCP_CA_Open);
	copa->window = 12 * ONE;
	copa_ssthresh((struct sock *)&tp);
	copa_set_state((struct sock *)&tp, TCP_CA_Recovery);
	EXPECT(copa_undo_cwnd((struct sock *)&tp), ==, 12);
}

int main(void)
{
	losses_that_a_timer_marks();
	a_spurious_timeout_gives_the_window_back();
	an_undo_without_a_timeout_keeps_the_window();
	return 0;
}
