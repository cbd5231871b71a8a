// SPDX-License-Identifier: GPL-2.0-only
/* The trace in the kernel of the virtual testbed; columns in docs/run-directory.md,
 * raw/cc-reminis.csv. */
#include <linux/init.h>
#include <linux/nr_link_trace.h>
#include <net/tcp.h>

#include "compat.h"
#include "reminis_core.h"
#include "virtual_trace.h"

#define Q24_BITS 24

static const char *const actions[] = {
	[REMINIS_ACTION_NONE] = "none",
	[REMINIS_ACTION_NDE] = "nde",
	[REMINIS_ACTION_PS] = "ps",
	[REMINIS_ACTION_CM] = "cm",
};

static const struct nr_link_trace_column columns[] = {
	{.name = "sport"},
	{.name = "dport"},
	{.name = "zone"},
	{.name = "action", .labels = actions, .label_count = ARRAY_SIZE(actions)},
	{.name = "delay_us"},
	{.name = "min_rtt_us"},
	{.name = "dtt_us"},
	{.name = "gradient", .fraction_bits = Q24_BITS},
	{.name = "mu", .fraction_bits = Q24_BITS},
	{.name = "draw", .fraction_bits = Q24_BITS},
	{.name = "cwnd_before"},
	{.name = "cwnd_after"},
	{.name = "si_us"},
	{.name = "samples"},
};

static struct nr_link_trace trace = {
	.name = "reminis",
	.columns = columns,
	.column_count = ARRAY_SIZE(columns),
};

void trace_reminis_si(const struct sock *sk, const struct reminis_decision *d)
{
	const long long values[] = {
		sk->sk_num,	ntohs(sk->sk_dport),
		d->zone,	d->action,
		d->delay_us,	d->min_rtt_us,
		d->dtt_us,	d->gradient_q24,
		d->mu_q24,	d->action == REMINIS_ACTION_NDE ? d->draw_q24 : NR_LINK_TRACE_EMPTY,
		d->cwnd_before, d->cwnd_after,
		d->si_us,	d->samples,
	};

	BUILD_BUG_ON(ARRAY_SIZE(values) != ARRAY_SIZE(columns));
	nr_link_trace_row(&trace, values);
}

void __init reminis_declare_trace(void)
{
	nr_link_trace_register(&trace);
}
