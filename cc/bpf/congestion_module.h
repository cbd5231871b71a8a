/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * congestion.h for the kernel of the virtual testbed. It has no JIT compiler, which
 * BPF congestion controls need, so the same source becomes a kernel module there:
 * what marks BPF programs becomes nothing, and helpers become kernel functions.
 */
#ifndef CC_CONGESTION_MODULE_H
#define CC_CONGESTION_MODULE_H

#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/tcp.h>

#define SEC(name)
#define __ksym
#define BPF_PROG(name, arguments...)	      name(arguments)
#define CONG_CONTROL(name, sk, rs)	      name(sk, __u32 ack, int flag, rs)
#define BPF_CORE_READ_BITFIELD(object, field) ((object)->field)
#define BPF_CORE_READ(object, field)	      ((object)->field)
#define bpf_ntohs(value)		      ntohs(value)
#define bpf_htons(value)		      htons(value)
#define bpf_get_prandom_u32()		      get_random_u32()
#define bpf_printk(format, arguments...)      pr_info(format "\n", ##arguments)

/* With interrupts off, reading the clock costs no virtual time. */
static inline __u64 bpf_ktime_get_ns(void)
{
	unsigned long flags;
	__u64 now;

	local_irq_save(flags);
	now = ktime_get_ns();
	local_irq_restore(flags);
	return now;
}

/* In memory of its own, to which the private area points. */
#define STATE_OF_SOCKET(structure)                                                                 \
	static structure *state_of(const struct sock *sk)                                          \
	{                                                                                          \
		return *(structure **)inet_csk_ca(sk);                                             \
	}                                                                                          \
	static structure *create_state(struct sock *sk)                                            \
	{                                                                                          \
		*(structure **)inet_csk_ca(sk) = kzalloc(sizeof(structure), GFP_ATOMIC);           \
		return state_of(sk);                                                               \
	}                                                                                          \
	static void drop_state(struct sock *sk)                                                    \
	{                                                                                          \
		kfree(state_of(sk));                                                               \
	}

static inline void *private_area(const struct sock *sk)
{
	return inet_csk_ca(sk);
}

static inline bool is_cwnd_limited(const struct tcp_sock *tp)
{
	return tp->is_cwnd_limited;
}

#endif
