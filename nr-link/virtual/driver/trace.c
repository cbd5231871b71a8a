// SPDX-License-Identifier: GPL-2.0-only
/* What congestion controls decide, to the model's library, which writes it. */
#include <linux/irqflags.h>

#include "nr_link.h"

const struct nr_link_trace *nr_link_traces;

void nr_link_trace_register(struct nr_link_trace *trace)
{
	trace->number = nr_link_traces ? nr_link_traces->number + 1 : 0;
	trace->next = nr_link_traces;
	nr_link_traces = trace;
}

void nr_link_trace_row(const struct nr_link_trace *trace, const long long *values)
{
	unsigned long flags;

	local_irq_save(flags);
	nr_link_calls->traced(nr_link, trace->number, values, nr_link_now());
	local_irq_restore(flags);
}
