/* SPDX-License-Identifier: GPL-2.0-only */
/* What the BPF program and its loader share: the limit of ports and the trace record. */
#ifndef REMINIS_TRACE_RECORD_H
#define REMINIS_TRACE_RECORD_H

#define REMINIS_PORTS_MAX 1024

/* One SI of one flow, in the ring buffer. Q24 fields as in reminis_core.h. */
struct trace_record {
	uint64_t monotonic_ns;
	int64_t gradient_q24;
	int32_t mu_q24, draw_q24;
	uint32_t delay_us, min_rtt_us, dtt_us, si_us, samples;
	uint32_t cwnd_before, cwnd_after;
	uint16_t local_port, remote_port;
	uint8_t zone, action;
};

#endif
