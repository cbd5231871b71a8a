/* SPDX-License-Identifier: GPL-2.0-only */
/* In the kernel of the virtual testbed, which has no tracing: the link's library writes the trace.
 */
#ifndef REMINIS_VIRTUAL_TRACE_H
#define REMINIS_VIRTUAL_TRACE_H

struct reminis_decision;
struct sock;
/* Before the link opens, thus with the module: an initcall of its own would move the clock. */
void reminis_declare_trace(void);
void trace_reminis_si(const struct sock *sk, const struct reminis_decision *d);

#endif
