/* SPDX-License-Identifier: GPL-2.0-only */
/* The tracepoint reminis:reminis_si: input and decision of the Guardian in one SI. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM reminis

/* Tracepoint macros have a style of their own. */
/* clang-format off */
#if !defined(REMINIS_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define REMINIS_TRACE_H

#include <linux/tracepoint.h>

TRACE_EVENT(reminis_si,

	TP_PROTO(const struct sock *sk, const struct reminis_decision *d),

	TP_ARGS(sk, d),

	TP_STRUCT__entry(
		__field(s64, gradient_q24)
		__field(s32, mu_q24)
		__field(s32, draw_q24)
		__field(u32, delay_us)
		__field(u32, min_rtt_us)
		__field(u32, dtt_us)
		__field(u32, si_us)
		__field(u32, samples)
		__field(u32, cwnd_before)
		__field(u32, cwnd_after)
		__field(u16, sport)
		__field(u16, dport)
		__field(u8, zone)
		__field(u8, action)
	),

	TP_fast_assign(
		__entry->gradient_q24 = d->gradient_q24;
		__entry->mu_q24 = d->mu_q24;
		__entry->draw_q24 = d->draw_q24;
		__entry->delay_us = d->delay_us;
		__entry->min_rtt_us = d->min_rtt_us;
		__entry->dtt_us = d->dtt_us;
		__entry->si_us = d->si_us;
		__entry->samples = d->samples;
		__entry->cwnd_before = d->cwnd_before;
		__entry->cwnd_after = d->cwnd_after;
		__entry->sport = inet_sk(sk)->inet_num;
		__entry->dport = ntohs(inet_sk(sk)->inet_dport);
		__entry->zone = d->zone;
		__entry->action = d->action;
	),

	TP_printk("sport=%u dport=%u zone=%u action=%s delay_us=%u min_rtt_us=%u dtt_us=%u gradient_q24=%lld mu_q24=%d draw_q24=%d cwnd_before=%u cwnd_after=%u si_us=%u samples=%u",
		  __entry->sport, __entry->dport, __entry->zone,
		  __print_symbolic(__entry->action,
				   { REMINIS_ACTION_NONE, "none" },
				   { REMINIS_ACTION_NDE, "nde" },
				   { REMINIS_ACTION_PS, "ps" },
				   { REMINIS_ACTION_CM, "cm" }),
		  __entry->delay_us, __entry->min_rtt_us, __entry->dtt_us, __entry->gradient_q24,
		  __entry->mu_q24, __entry->draw_q24, __entry->cwnd_before, __entry->cwnd_after,
		  __entry->si_us, __entry->samples)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE tcp_reminis_trace
#include <trace/define_trace.h>
