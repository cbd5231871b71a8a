// SPDX-License-Identifier: GPL-2.0-only
/* What Reminis decides, to the model's library, which writes it. */
#include <net/tcp.h>

#include "nr_link.h"
#include "reminis/module/compat.h" /* before the core, which needs it */
#include "reminis/reminis_core.h"
#include "tcp_reminis_trace.h"

void trace_reminis_si(const struct sock *sk, const struct reminis_decision *d)
{
	struct nr_link_decision decision = {
		.now = nr_link_now(),
		.gradient_q24 = d->gradient_q24,
		.mu_q24 = d->mu_q24,
		.draw_q24 = d->draw_q24,
		.delay_us = d->delay_us,
		.min_rtt_us = d->min_rtt_us,
		.dtt_us = d->dtt_us,
		.si_us = d->si_us,
		.samples = d->samples,
		.cwnd_before = d->cwnd_before,
		.cwnd_after = d->cwnd_after,
		.local_port = sk->sk_num,
		.remote_port = ntohs(sk->sk_dport),
		.zone = d->zone,
		.action = d->action,
	};
	unsigned long flags;

	local_irq_save(flags);
	nr_link_calls->decided(nr_link, &decision);
	local_irq_restore(flags);
}
