/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * What a congestion control in BPF needs: the kernel's types with the fields
 * that are used, and the kernel functions that it may call.
 *
 * CO-RE finds each field by name in the running kernel's BTF when the program
 * is loaded, so this replaces a generated vmlinux.h. Add the fields that you
 * need. Bit fields (is_cwnd_limited) must be read through
 * BPF_CORE_READ_BITFIELD.
 */
#ifndef CC_CONGESTION_H
#define CC_CONGESTION_H

#ifdef __KERNEL__
#include "congestion_module.h" /* in virtual time the same source is a kernel module */
#else

#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define ICSK_CA_PRIV_SIZE     104 /* bytes, include/net/inet_connection_sock.h */
#define TCP_INFINITE_SSTHRESH 0x7fffffff

enum { SK_PACING_NONE, SK_PACING_NEEDED, SK_PACING_FQ };
enum tcp_ca_event { CA_EVENT_TX_START, CA_EVENT_CWND_RESTART };
enum { TCP_CA_Open, TCP_CA_Disorder, TCP_CA_CWR, TCP_CA_Recovery, TCP_CA_Loss };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sock_common {
	__be16 skc_dport;
	__u16 skc_num; /* local port */
};

struct sock {
	struct sock_common __sk_common;
	__u32 sk_pacing_status;
	unsigned long sk_pacing_rate; /* bytes per second */
};

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	__u8 icsk_ca_state : 5;
	__u64 icsk_ca_priv[ICSK_CA_PRIV_SIZE / 8];
};

struct minmax_sample {
	__u32 t, v;
};

struct minmax {
	struct minmax_sample s[3];
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u64 tcp_mstamp;      /* µs, time of the ACK in hand */
	__u64 tcp_clock_cache; /* the same, ns */
	__u64 tcp_wstamp_ns;   /* when pacing lets the next packet leave */
	__u32 srtt_us;	       /* smoothed RTT, in eighths of a microsecond */
	__u32 snd_nxt;	       /* sequence number of the next byte */
	__u32 snd_cwnd;	       /* packets */
	__u32 snd_cwnd_cnt;    /* ACKed packets that have not yet raised snd_cwnd */
	__u32 snd_ssthresh;    /* packets */
	__u32 prior_cwnd;      /* packets, when recovery began */
	__u32 prr_out;	       /* packets sent since then */
	__u32 snd_cwnd_clamp;
	__u32 app_limited;     /* until so many packets are delivered; 0: not */
	__u32 mss_cache;       /* bytes */
	__u32 max_packets_out; /* of a window */
	__u32 packets_out, retrans_out, sacked_out, lost_out; /* packets */
	__u32 delivered, delivered_ce, lost, total_retrans;   /* packets, total */
	__u64 bytes_acked;
	struct minmax rtt_min; /* s[0].v: the least RTT, µs */
	__u8 is_cwnd_limited : 1;
};

struct ack_sample {
	__u32 pkts_acked;
	__s32 rtt_us; /* negative: this ACK gives no RTT */
	__u32 in_flight;
};

/* What an ACK says of the rate of delivery (net/ipv4/tcp_rate.c). */
struct rate_sample {
	__u32 prior_delivered; /* total when the newest ACKed packet departed */
	__s32 delivered;       /* packets since then; negative: no sample */
	long interval_us;
	long rtt_us; /* negative: no sample */
	int losses;  /* packets newly marked lost */
	__u32 acked_sacked;
	__u32 prior_in_flight;
	bool is_app_limited;
	bool is_retrans;
};

struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	void (*set_state)(struct sock *sk, __u8 state);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	__u32 (*min_tso_segs)(struct sock *sk);
	/* Takes the place of cong_avoid() and of PRR. Before Linux 6.10: (sk, rs). */
	void (*cong_control)(struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs);
	__u32 (*undo_cwnd)(struct sock *sk);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	char name[16];
	__u32 flags;
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
};

#pragma clang attribute pop

/* cong_control() has (sk, rs) before Linux 6.10, which is compiled with OLD_CONG_CONTROL. */
#ifdef OLD_CONG_CONTROL
#define CONG_CONTROL(name, sk, rs) BPF_PROG(name, sk, rs)
#else
#define CONG_CONTROL(name, sk, rs) BPF_PROG(name, sk, __u32 ack, int flag, rs)
#endif

/*
 * State of a socket that is larger than the private area, less than 64 KB:
 * create_state() in init(), state_of() afterwards, either NULL without memory,
 * and drop_state() in release().
 */
#define STATE_OF_SOCKET(structure)                                                                 \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_SK_STORAGE);                                             \
		__uint(map_flags, BPF_F_NO_PREALLOC);                                              \
		__type(key, int);                                                                  \
		__type(value, structure);                                                          \
	} states SEC(".maps");                                                                     \
	static __always_inline structure *create_state(struct sock *sk)                            \
	{                                                                                          \
		return bpf_sk_storage_get(&states, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);            \
	}                                                                                          \
	static __always_inline structure *state_of(struct sock *sk)                                \
	{                                                                                          \
		return bpf_sk_storage_get(&states, sk, 0, 0);                                      \
	}                                                                                          \
	static __always_inline void drop_state(struct sock *sk)                                    \
	{                                                                                          \
		bpf_sk_storage_delete(&states, sk);                                                \
	}

extern __u32 tcp_slow_start(struct tcp_sock *tp, __u32 acked) __ksym;
extern void tcp_cong_avoid_ai(struct tcp_sock *tp, __u32 w, __u32 acked) __ksym;
extern void tcp_reno_cong_avoid(struct sock *sk, __u32 ack, __u32 acked) __ksym;
extern __u32 tcp_reno_ssthresh(struct sock *sk) __ksym;
extern __u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

static inline struct tcp_sock *tcp_sk(const struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

/* The congestion control's own ICSK_CA_PRIV_SIZE bytes of the socket. */
static inline void *private_area(const struct sock *sk)
{
	return ((struct inet_connection_sock *)sk)->icsk_ca_priv;
}

static inline bool is_cwnd_limited(const struct tcp_sock *tp)
{
	return BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited);
}

#endif
#endif
