/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Takes the place of kmod/module/tcp_reminis_trace.h, in a kernel without
 * tracing: the tracepoint is a call of reminis_trace.c.
 */
#ifndef NR_LINK_TCP_REMINIS_TRACE_H
#define NR_LINK_TCP_REMINIS_TRACE_H

struct reminis_decision;
struct sock;
void trace_reminis_si(const struct sock *sk, const struct reminis_decision *d);

#endif
