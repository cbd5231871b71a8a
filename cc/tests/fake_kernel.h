/* SPDX-License-Identifier: Apache-2.0 */
/* What cc/bpf/congestion.h says, for a program that calls congestion controls
 * itself. */
#ifndef CC_CONGESTION_H
#define CC_CONGESTION_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ICSK_CA_PRIV_SIZE     104
#define TCP_INFINITE_SSTHRESH 0x7fffffff
#undef __always_inline
#define __always_inline inline __attribute__((always_inline, unused))
#define SEC(name)
#define BPF_PROG(name, arguments...) name(arguments)
#define CONG_CONTROL(name, sk, rs)   name(sk, __u32 ack, int flag, rs)

enum { SK_PACING_NONE, SK_PACING_NEEDED, SK_PACING_FQ };
enum tcp_ca_event { CA_EVENT_TX_START };
enum { TCP_CA_Open, TCP_CA_Disorder, TCP_CA_CWR, TCP_CA_Recovery, TCP_CA_Loss };

struct sock {
	__u32 sk_pacing_status;
	unsigned long sk_pacing_rate;
};

struct inet_connection_sock {
	struct sock sk;
	__u64 icsk_ca_priv[ICSK_CA_PRIV_SIZE / 8];
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u64 tcp_mstamp, tcp_clock_cache, tcp_wstamp_ns, bytes_acked;
	__u32 srtt_us, snd_cwnd, snd_ssthresh, prior_cwnd, prr_out, snd_cwnd_clamp, app_limited;
	__u32 mss_cache, packets_out, retrans_out, sacked_out, lost_out;
	__u32 delivered, delivered_ce, lost, total_retrans;
	struct {
		struct {
			__u32 t, v;
		} s[3];
	} rtt_min;
	bool is_cwnd_limited;
};

struct rate_sample {
	__u32 prior_delivered;
	__s32 delivered;
	long interval_us, rtt_us;
	int losses;
	__u32 acked_sacked, prior_in_flight;
	bool is_app_limited, is_retrans;
};

struct tcp_congestion_ops {
	void *init, *release, *cong_control, *set_state, *ssthresh, *undo_cwnd, *min_tso_segs;
	void *cwnd_event;
	char name[16];
};

#define STATE_OF_SOCKET(structure)                                                                 \
	static structure *state;                                                                   \
	static __always_inline structure *create_state(struct sock *sk)                            \
	{                                                                                          \
		return state = calloc(1, sizeof(structure));                                       \
	}                                                                                          \
	static __always_inline structure *state_of(struct sock *sk)                                \
	{                                                                                          \
		return state;                                                                      \
	}                                                                                          \
	static __always_inline void drop_state(struct sock *sk)                                    \
	{                                                                                          \
		free(state);                                                                       \
	}

static inline struct tcp_sock *tcp_sk(const struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static inline void *private_area(const struct sock *sk)
{
	return ((struct inet_connection_sock *)sk)->icsk_ca_priv;
}

static inline bool is_cwnd_limited(const struct tcp_sock *tp)
{
	return tp->is_cwnd_limited;
}

static inline __u32 bpf_get_prandom_u32(void)
{
	return 1;
}

static inline __u32 tcp_reno_undo_cwnd(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	return tp->snd_cwnd > tp->prior_cwnd ? tp->snd_cwnd : tp->prior_cwnd;
}

static inline __u32 tcp_reno_ssthresh(struct sock *sk)
{
	return tcp_sk(sk)->snd_cwnd / 2;
}

static inline void tcp_reno_cong_avoid(struct sock *sk, __u32 ack, __u32 acked)
{
	tcp_sk(sk)->snd_cwnd += acked;
}

/* An expectation that fails ends the test, and says its values. */
#define EXPECT(a, relation, b)                                                                     \
	do {                                                                                       \
		long long left = (long long)(a), right = (long long)(b);                           \
		if (!(left relation right)) {                                                      \
			printf("%s:%d: %s is %lld, not %s %lld\n", __func__, __LINE__, #a, left,   \
			       #relation, right);                                                  \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

/* A connection with a round trip of 20 ms. */
static struct tcp_sock connection(void)
{
	struct tcp_sock tp = {.tcp_mstamp = 1000000,
			      .srtt_us = 20000 << 3,
			      .snd_cwnd = 10,
			      .snd_ssthresh = TCP_INFINITE_SSTHRESH,
			      .snd_cwnd_clamp = 1 << 20,
			      .mss_cache = 1448,
			      .delivered = 1,
			      .is_cwnd_limited = true};
	return tp;
}

/* The next ACK: of so many packets, the newest of which departed at a total of
 * `departed`. */
static struct rate_sample acknowledge(struct tcp_sock *tp, __u32 packets, __u32 departed)
{
	struct rate_sample rs = {.prior_delivered = departed,
				 .interval_us = 20000,
				 .rtt_us = 20000,
				 .acked_sacked = packets,
				 .prior_in_flight = tp->packets_out - tp->lost_out};

	tp->tcp_mstamp += 1000;
	tp->delivered += packets;
	tp->packets_out -= packets;
	rs.delivered = tp->delivered - departed;
	return rs;
}

#endif
