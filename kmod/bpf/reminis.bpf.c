// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reminis as a BPF struct_ops congestion control (CO-RE, Linux 6.1 and newer).
 *
 * The kernel's Reno is the AIMD; reminis_core.h is the Guardian, called for every
 * ACK from pkts_acked, which runs before cong_avoid and, unlike it, in every
 * congestion state. Setting the pacing status makes the kernel pace at
 * 1.2 cwnd/srtt, so that a larger window is not sent as one burst.
 */
#include "kernel_types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>

#define reminis_inline	 static __always_inline
#define reminis_function __noinline
/*
 * Volatile, since the compiler would treat a table that ends in 0 as a string and put it into a
 * section that libbpf ignores.
 */
#define reminis_table static const volatile
#include "../reminis_core.h"
#include "trace_record.h"

char LICENSE[] SEC("license") = "GPL";

const volatile struct reminis_params params = {
	.dtt_factor_q16 = REMINIS_DTT_FACTOR_DEFAULT_Q16,
};
const volatile bool pacing = true;
const volatile bool tracing = true;

uint32_t flow_count;
uint64_t trace_lost_count;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20); /* 10 k records: 100 ms of 100 per ms */
} trace SEC(".maps");

#include "flow_dtt.bpf.h"

extern void tcp_reno_cong_avoid(struct sock *sk, __u32 ack, __u32 acked) __ksym;
extern __u32 tcp_reno_ssthresh(struct sock *sk) __ksym;
extern __u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

_Static_assert(sizeof(struct reminis) <= ICSK_CA_PRIV_SIZE,
	       "the state must fit into the socket's private area");

static struct reminis *state_of(struct sock *sk)
{
	return (struct reminis *)((struct inet_connection_sock *)sk)->icsk_ca_priv;
}

static __always_inline struct reminis_params loaded_params(void)
{
	return (struct reminis_params){
		.dtt_us = params.dtt_us,
		.dtt_factor_q16 = params.dtt_factor_q16,
		.switches = params.switches,
		.seed = params.seed,
	};
}

static __always_inline void record(uint32_t local, uint32_t remote,
				   const struct reminis_decision *d)
{
	struct trace_record *t = bpf_ringbuf_reserve(&trace, sizeof(*t), 0);

	if (!t) {
		__sync_fetch_and_add(&trace_lost_count, 1);
		return;
	}
	*t = (struct trace_record){
		.monotonic_ns = bpf_ktime_get_ns(),
		.gradient_q24 = d->gradient_q24,
		.mu_q24 = d->mu_q24,
		.draw_q24 = d->draw_q24,
		.delay_us = d->delay_us,
		.min_rtt_us = d->min_rtt_us,
		.dtt_us = d->dtt_us,
		.si_us = d->si_us,
		.samples = d->samples,
		.cwnd_before = d->cwnd_before,
		.cwnd_after = d->cwnd_after,
		.local_port = local,
		.remote_port = remote,
		.zone = d->zone,
		.action = d->action,
	};
	/* the loader polls: waking it for every SI would cost more than the SI itself */
	bpf_ringbuf_submit(t, BPF_RB_NO_WAKEUP);
}

SEC("struct_ops/reminis_bpf_init")
void BPF_PROG(reminis_bpf_init, struct sock *sk)
{
	/* for getsockopt() to find the DTT in force; allocated here rather than per ACK */
	bpf_sk_storage_get(&socket_dtt, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	reminis_init(state_of(sk), __sync_fetch_and_add(&flow_count, 1));
	if (pacing && sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
}

SEC("struct_ops/reminis_bpf_release")
void BPF_PROG(reminis_bpf_release, struct sock *sk)
{
	bpf_sk_storage_delete(&socket_dtt, sk);
}

SEC("struct_ops/reminis_bpf_pkts_acked")
void BPF_PROG(reminis_bpf_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct reminis_params p = loaded_params();
	struct reminis *r = state_of(sk);
	struct reminis_sender sender;
	struct reminis_decision decision;
	struct socket_dtt *own;
	uint32_t local, remote;
	uint32_t ca_state = BPF_CORE_READ_BITFIELD(&tp->inet_conn, icsk_ca_state);

	if (BPF_CORE_READ_BITFIELD(tp, rx_opt.saw_tstamp))
		reminis_on_timestamp(r, &p, tp->tcp_mstamp, sample->rtt_us, tp->rx_opt.rcv_tsval);
	/* The ACK may be of retransmitted data: in recovery, after a timeout, or of a probe. */
	if (!reminis_on_ack(r, &p, tp->tcp_mstamp, sample->rtt_us,
			    ca_state >= TCP_CA_RECOVERY || tp->tlp_high_seq))
		return;
	local = sk->__sk_common.skc_num;
	remote = bpf_ntohs(sk->__sk_common.skc_dport);
	own = bpf_sk_storage_get(&socket_dtt, sk, NULL, 0);
	r->dtt_us = own && own->given_us ? own->given_us : dtt_of_ports(local, remote);
	sender = (struct reminis_sender){
		.now_us = tp->tcp_mstamp,
		.cwnd = tp->snd_cwnd,
		.ssthresh = tp->snd_ssthresh,
		.cwnd_max = tp->snd_cwnd_clamp,
		.random =
			p.seed ? reminis_random(p.seed, r->flow, r->draws) : bpf_get_prandom_u32(),
		.open = ca_state == TCP_CA_OPEN,
		.cwnd_limited = BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited),
	};
	reminis_guard(r, &p, &sender, &decision);
	if (own)
		own->in_force_us = decision.dtt_us;
	tp->snd_cwnd = decision.cwnd_after;
	tp->snd_ssthresh = decision.ssthresh_after;
	if (tracing)
		record(local, remote, &decision);
}

SEC("struct_ops/reminis_bpf_cwnd_event")
void BPF_PROG(reminis_bpf_cwnd_event, struct sock *sk, enum tcp_ca_event event)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	/* After a timeout, too, nothing counts as in flight, but then the sender was not idle. */
	if (event == CA_EVENT_TX_START && !tp->packets_out)
		reminis_on_restart(state_of(sk), tp->tcp_mstamp);
}

SEC("struct_ops/reminis_bpf_cong_avoid")
void BPF_PROG(reminis_bpf_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	if ((params.switches & REMINIS_NO_AIMD) && tp->snd_cwnd >= tp->snd_ssthresh)
		return;
	tcp_reno_cong_avoid(sk, ack, acked);
}

SEC("struct_ops/reminis_bpf_ssthresh")
__u32 BPF_PROG(reminis_bpf_ssthresh, struct sock *sk)
{
	if (params.switches & REMINIS_NO_AIMD)
		return ((struct tcp_sock *)sk)->snd_cwnd;
	return tcp_reno_ssthresh(sk);
}

SEC("struct_ops/reminis_bpf_undo_cwnd")
__u32 BPF_PROG(reminis_bpf_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

/* `reminis-bpf clean` recognises the registration by the name of this map. */
SEC(".struct_ops")
struct tcp_congestion_ops reminis_testbed = {
	.init = (void *)reminis_bpf_init,
	.release = (void *)reminis_bpf_release,
	.pkts_acked = (void *)reminis_bpf_pkts_acked,
	.cwnd_event = (void *)reminis_bpf_cwnd_event,
	.cong_avoid = (void *)reminis_bpf_cong_avoid,
	.ssthresh = (void *)reminis_bpf_ssthresh,
	.undo_cwnd = (void *)reminis_bpf_undo_cwnd,
	.name = "reminis",
};
