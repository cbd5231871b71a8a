// SPDX-License-Identifier: Apache-2.0
/* The kernel's half of the plane for policies, with a kernel that does what a
 * test says. */
#include "fake_kernel.h"
#include "plane/plane_core.h"

STATE_OF_SOCKET(struct plane_history)

static struct plane plane;
static struct plane_report report; /* the newest */
static __u64 now_ns;

static __always_inline struct plane *plane_of(struct sock *sk)
{
	return &plane;
}

static __always_inline __u64 plane_now(void)
{
	return now_ns;
}

static __always_inline struct plane_report *plane_reserve(struct plane *unused)
{
	return &report;
}

static __always_inline void plane_submit(struct plane *unused, struct plane_report *r)
{
}

static __always_inline __u16 plane_local_port(const struct sock *sk)
{
	return 1;
}

static __always_inline __u16 plane_remote_port(const struct sock *sk)
{
	return 2;
}

static struct sock *begin(struct tcp_sock *tp)
{
	*tp = connection();
	memset(&plane, 0, sizeof(plane));
	plane_init((struct sock *)tp);
	return (struct sock *)tp;
}

static void command(struct sock *sk, __u32 cwnd, __u32 ssthresh)
{
	struct plane_flow *f = plane_flow_of(sk);
	struct plane_command *c = &plane.commands[f->index];

	c->sequence++;
	c->generation = f->generation;
	c->cwnd = cwnd;
	c->ssthresh = ssthresh;
}

static void flight_of_many_packets_that_the_application_limits(void)
{
	struct tcp_sock tp;
	struct sock *sk = begin(&tp);
	struct rate_sample rs;

	command(sk, 100000, 0);
	for (__u32 sent = 0; sent < 6000; sent++) {
		tp.packets_out = 3000;
		rs = acknowledge(&tp, 1, tp.delivered > 3000 ? tp.delivered - 2999 : 1);
		plane_control(sk, 0, &rs);
	}
	EXPECT(report.tx_inflight, ==, 3000);
}

static void losses_that_a_timer_marks(void)
{
	struct tcp_sock tp;
	struct sock *sk = begin(&tp);
	struct rate_sample rs;

	tp.packets_out = 20;
	tp.lost_out = tp.lost = 7;
	plane_set_state(sk, TCP_CA_Recovery);
	EXPECT(report.event, ==, PLANE_STATE);
	rs = acknowledge(&tp, 1, 1);
	plane_control(sk, 0, &rs);
	EXPECT(report.event, ==, PLANE_ACKS);
	EXPECT(report.losses, ==, 7);
	rs = acknowledge(&tp, 1, 1);
	plane_control(sk, 0, &rs);
	EXPECT(report.losses, ==, 0);
}

static void undone_loss_gives_the_window_back(void)
{
	struct tcp_sock tp;
	struct sock *sk = begin(&tp);
	struct rate_sample rs;

	command(sk, 50, 0);
	tp.packets_out = 50;
	rs = acknowledge(&tp, 1, 1);
	plane_control(sk, 0, &rs);
	tp.prior_cwnd = tp.snd_cwnd;
	tp.lost = 40;
	tp.snd_cwnd = 1;
	plane_set_state(sk, TCP_CA_Loss);
	command(sk, 2, 0);
	plane_obey(sk);
	tp.snd_cwnd = plane_undo(sk);
	EXPECT(report.event, ==, PLANE_UNDO);
	EXPECT(report.cwnd, ==, 50);
	plane_set_state(sk, TCP_CA_Open);
	rs = acknowledge(&tp, 1, 1);
	plane_control(sk, 0, &rs);
	EXPECT(tp.snd_cwnd, ==, 50);
	EXPECT(report.event, ==, PLANE_ACKS);
	EXPECT(report.losses, ==, 0);
	command(sk, 20, 0);
	plane_obey(sk);
	EXPECT(tp.snd_cwnd, ==, 20);
}

static void silent_policy_leaves_a_mark_to_reno(void)
{
	struct tcp_sock tp;
	struct sock *sk = begin(&tp);
	struct rate_sample rs;

	plane_flow_of(sk)->fallback = 1;
	tp.snd_cwnd = 100;
	tp.snd_ssthresh = 50;
	plane_set_state(sk, TCP_CA_CWR);
	for (__u32 acked = 0; acked < 100; acked++) {
		tp.packets_out = 100;
		rs = acknowledge(&tp, 1, 1);
		plane_flow_of(sk)->fallback = 1;
		plane_control(sk, 0, &rs);
	}
	EXPECT(tp.snd_cwnd, ==, 50);
}

/* The pacing rate as a multiple of a window in a round trip, in percent. */
static __u32 pacing_percent(struct tcp_sock *tp)
{
	struct rate_sample rs;

	tp->packets_out = 1;
	rs = acknowledge(tp, 1, 1);
	plane_control((struct sock *)tp, 0, &rs);
	return tp->inet_conn.sk.sk_pacing_rate / (tp->snd_cwnd * (__u64)tp->mss_cache * 50 / 100);
}

static void pace_of_a_window(void)
{
	struct tcp_sock tp;
	struct sock *sk = begin(&tp);

	EXPECT(pacing_percent(&tp), ==, 200); /* no command yet */
	command(sk, 50, 0);
	EXPECT(pacing_percent(&tp), ==, 120);
	command(sk, 50, 1000);
	EXPECT(pacing_percent(&tp), ==, 200);
	command(sk, 600, 0);
	EXPECT(pacing_percent(&tp), ==, 120);
}

static void more_flows_than_generations(void)
{
	struct tcp_sock tp;
	__u32 flow;

	memset(&plane, 0, sizeof(plane));
	for (flow = 0; flow < 70000; flow++) {
		tp = connection();
		plane_init((struct sock *)&tp);
		EXPECT(plane_flow_of((struct sock *)&tp)->generation, !=, 0);
		EXPECT(plane_flow_of((struct sock *)&tp)->index, ==, 0);
		plane_release((struct sock *)&tp);
	}
}

int main(void)
{
	flight_of_many_packets_that_the_application_limits();
	losses_that_a_timer_marks();
	undone_loss_gives_the_window_back();
	pace_of_a_window();
	more_flows_than_generations();
	silent_policy_leaves_a_mark_to_reno();
	return 0;
}
