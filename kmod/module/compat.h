/* SPDX-License-Identifier: GPL-2.0-only */
/* Wrappers for kernel interfaces that changed since 5.15. */
#ifndef REMINIS_COMPAT_H
#define REMINIS_COMPAT_H

#include <linux/version.h>
#include <linux/math64.h>
#include <net/tcp.h>

#ifndef UINT32_MAX
#define UINT32_MAX U32_MAX
#endif
/* 32-bit kernels have no 64-bit division operator. */
#define reminis_div(dividend, divisor) div64_u64(dividend, divisor)

static inline u32 reminis_cwnd(const struct tcp_sock *tp)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 19, 0)
	return tcp_snd_cwnd(tp);
#else
	return tp->snd_cwnd;
#endif
}

static inline void reminis_set_cwnd(struct tcp_sock *tp, u32 cwnd)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 19, 0)
	tcp_snd_cwnd_set(tp, cwnd);
#else
	tp->snd_cwnd = cwnd;
#endif
}

#endif
