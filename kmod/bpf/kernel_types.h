/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The few kernel types and fields that the BPF program uses. CO-RE looks up each
 * field by name in the running kernel's BTF when the program is loaded, so this
 * replaces a generated vmlinux.h.
 */
#ifndef REMINIS_KERNEL_TYPES_H
#define REMINIS_KERNEL_TYPES_H

#include <stdbool.h>
#include <linux/bpf.h>

typedef __u8 uint8_t;
typedef __u16 uint16_t;
typedef __u32 uint32_t;
typedef __s32 int32_t;
typedef __u64 uint64_t;
typedef __s64 int64_t;
#define UINT32_MAX 0xffffffffU

#define ICSK_CA_PRIV_SIZE 104 /* bytes, include/net/inet_connection_sock.h */
#define TCP_CA_OPEN	  0   /* TCP_CA_Open of include/uapi/linux/tcp.h */
#define TCP_CA_RECOVERY	  3   /* TCP_CA_Recovery there */
#define SK_PACING_NONE	  0
#define SK_PACING_NEEDED  1 /* include/net/sock.h: TCP's own timer paces */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sock_common {
	__be16 skc_dport;
	__u16 skc_num;
};

struct sock {
	struct sock_common __sk_common;
	__u32 sk_pacing_status;
};

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	__u8 icsk_ca_state : 5;
	__u64 icsk_ca_priv[ICSK_CA_PRIV_SIZE / 8];
};

struct tcp_options_received {
	__u32 rcv_tsval;
	__u16 saw_tstamp : 1;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u64 tcp_mstamp; /* µs, of the ACK that is being processed */
	__u32 snd_cwnd;
	__u32 snd_ssthresh;
	__u32 snd_cwnd_clamp;
	__u32 packets_out;
	__u32 tlp_high_seq; /* not 0: a tail loss probe is in flight */
	__u8 is_cwnd_limited : 1;
	struct tcp_options_received rx_opt;
};

struct ack_sample {
	__u32 pkts_acked;
	__s32 rtt_us;
	__u32 in_flight;
};

enum tcp_ca_event {
	CA_EVENT_TX_START, /* data leaves while nothing is in flight */
};

struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	__u32 (*undo_cwnd)(struct sock *sk);
	char name[16];
	__u32 flags;
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
};

#pragma clang attribute pop

#endif
