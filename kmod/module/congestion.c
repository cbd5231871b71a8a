// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reminis as a kernel module. reminis_core.h has the algorithm; this file connects
 * it to a socket: Reno as the AIMD, RTT samples from pkts_acked (which runs before
 * cong_avoid and, unlike it, in every congestion state), pacing by the kernel,
 * parameters, ss, a tracepoint, and a socket option for the DTT.
 */
#define pr_fmt(fmt) "tcp_reminis: " fmt

#include <linux/inet_diag.h>
#include <linux/module.h>
#include <linux/random.h>
#include <net/tcp.h>

#include "compat.h"
#include "reminis_core.h"
#include "tcp_reminis.h"

#ifdef CONFIG_NR_LINK
#include "virtual_trace.h"
#else
#define CREATE_TRACE_POINTS
#include "tcp_reminis_trace.h"
static inline void reminis_declare_trace(void)
{
}
#endif

atomic_t reminis_flow_count = ATOMIC_INIT(0);

static void reminis_tcp_init(struct sock *sk)
{
	struct reminis_flow *flow = reminis_flow(sk);

	/* keeps socket_dtt_us, which was set before connect() or on the listening socket */
	reminis_init(&flow->guardian, atomic_inc_return(&reminis_flow_count) - 1);
	if (READ_ONCE(reminis_pacing))
		cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
}

u32 reminis_flow_dtt(const struct sock *sk)
{
	u32 own_us = reminis_flow(sk)->socket_dtt_us;

	return own_us ? own_us
		      : reminis_port_dtt(inet_sk(sk)->inet_num, ntohs(inet_sk(sk)->inet_dport));
}

static void end_interval(struct sock *sk, const struct reminis_params *params)
{
	struct reminis *guardian = &reminis_flow(sk)->guardian;
	struct tcp_sock *tp = tcp_sk(sk);
	struct reminis_decision decision;
	struct reminis_sender sender = {
		.now_us = tp->tcp_mstamp,
		.cwnd = reminis_cwnd(tp),
		.ssthresh = tp->snd_ssthresh,
		.cwnd_max = tp->snd_cwnd_clamp,
		.random = params->seed
				  ? reminis_random(params->seed, guardian->flow, guardian->draws)
				  : get_random_u32(),
		.open = inet_csk(sk)->icsk_ca_state == TCP_CA_Open,
		.cwnd_limited = tp->is_cwnd_limited,
	};

	guardian->dtt_us = reminis_flow_dtt(sk);
	reminis_guard(guardian, params, &sender, &decision);
	reminis_set_cwnd(tp, decision.cwnd_after);
	tp->snd_ssthresh = decision.ssthresh_after;
	trace_reminis_si(sk, &decision);
}

/* The ACK may be of retransmitted data: in recovery, after a timeout, or of a tail loss probe. */
static bool is_repairing(const struct sock *sk)
{
	return inet_csk(sk)->icsk_ca_state >= TCP_CA_Recovery || tcp_sk(sk)->tlp_high_seq;
}

static void reminis_tcp_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
	struct reminis *guardian = &reminis_flow(sk)->guardian;
	struct reminis_params params = reminis_params_now();
	const struct tcp_sock *tp = tcp_sk(sk);

	if (tp->rx_opt.saw_tstamp)
		reminis_on_timestamp(guardian, &params, tp->tcp_mstamp, sample->rtt_us,
				     tp->rx_opt.rcv_tsval);
	if (reminis_on_ack(guardian, &params, tp->tcp_mstamp, sample->rtt_us, is_repairing(sk)))
		end_interval(sk, &params);
}

static void reminis_tcp_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	/* After a timeout, too, nothing counts as in flight, but then the sender was not idle. */
	if (event == CA_EVENT_TX_START && !tp->packets_out)
		reminis_on_restart(&reminis_flow(sk)->guardian, tp->tcp_mstamp);
}

static bool aimd_is_off(void)
{
	return reminis_params_now().switches & REMINIS_NO_AIMD;
}

static void reminis_tcp_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	if (aimd_is_off() && !tcp_in_slow_start(tcp_sk(sk)))
		return;
	tcp_reno_cong_avoid(sk, ack, acked);
}

static u32 reminis_tcp_ssthresh(struct sock *sk)
{
	return aimd_is_off() ? reminis_cwnd(tcp_sk(sk)) : tcp_reno_ssthresh(sk);
}

/* ss shows the fields of Vegas; docs/reminis.md has their meaning here. */
static size_t reminis_tcp_get_info(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info)
{
	const struct reminis *guardian = &reminis_flow(sk)->guardian;
	struct reminis_params params = reminis_params_now();

	if (!(ext & (1 << (INET_DIAG_VEGASINFO - 1))))
		return 0;
	info->vegas.tcpv_enabled = guardian->zone;
	info->vegas.tcpv_rttcnt = guardian->min_rtt_us ? reminis_dtt(guardian, &params) : 0;
	info->vegas.tcpv_rtt = guardian->delay_us;
	info->vegas.tcpv_minrtt = guardian->min_rtt_us;
	*attr = INET_DIAG_VEGASINFO;
	return sizeof(struct tcpvegas_info);
}

struct tcp_congestion_ops reminis_ops __read_mostly = {
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "reminis",
	.owner = THIS_MODULE,
	.init = reminis_tcp_init,
	.pkts_acked = reminis_tcp_pkts_acked,
	.cwnd_event = reminis_tcp_cwnd_event,
	.cong_avoid = reminis_tcp_cong_avoid,
	.ssthresh = reminis_tcp_ssthresh,
	.undo_cwnd = tcp_reno_undo_cwnd,
	.get_info = reminis_tcp_get_info,
};

static int __init reminis_module_init(void)
{
	int error;

	BUILD_BUG_ON(sizeof(struct reminis_flow) > ICSK_CA_PRIV_SIZE);
	reminis_declare_trace();
	error = reminis_sockopt_register();
	if (error)
		return error;
	error = tcp_register_congestion_control(&reminis_ops);
	if (error) {
		reminis_sockopt_unregister();
		pr_err("cannot register (error %d)%s\n", error,
		       error == -EEXIST ? ": the name reminis is taken, possibly by reminis-bpf"
					: "");
	}
	return error;
}

static void __exit reminis_module_exit(void)
{
	tcp_unregister_congestion_control(&reminis_ops);
	reminis_sockopt_unregister();
}

module_init(reminis_module_init);
module_exit(reminis_module_exit);

MODULE_AUTHOR("The Hercules-style 5G transport testbed");
MODULE_DESCRIPTION("Reminis congestion control for 5G");
MODULE_LICENSE("GPL");
MODULE_VERSION("1.0");
