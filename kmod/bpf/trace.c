// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <time.h>
#include <unistd.h>
#include "../reminis_core.h"
#include "trace.h"

const char *const action_names[4] = {"none", "nde", "ps", "cm"};

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

int trace_open(struct trace_file *trace, const char *path)
{
	*trace = (struct trace_file){0};
	if (!path)
		return 0;
	trace->csv = fopen(path, "we");
	if (!trace->csv)
		return errno;
	fputs("utc_ns,sport,dport,zone,action,delay_us,min_rtt_us,dtt_us,gradient,mu,draw,"
	      "cwnd_before,cwnd_after,si_us,samples\n",
	      trace->csv);
	return fflush(trace->csv) ? errno : 0;
}

/* Uses the shortest of a few measurements: longer ones were interrupted. */
void trace_sync_clock(struct trace_file *trace)
{
	int64_t best_ns = INT64_MAX;

	for (int i = 0; i < 5; i++) {
		int64_t before = clock_ns(CLOCK_MONOTONIC);
		int64_t utc = clock_ns(CLOCK_REALTIME);
		int64_t after = clock_ns(CLOCK_MONOTONIC);

		if (after - before < best_ns) {
			best_ns = after - before;
			trace->utc_minus_monotonic_ns = utc - before - best_ns / 2;
		}
	}
}

static double from_q24(int64_t value_q24)
{
	return (double)value_q24 / REMINIS_ONE_Q24;
}

void trace_write(struct trace_file *trace, const struct trace_record *t)
{
	char draw[24] = ""; /* empty: no draw */

	trace->record_count++;
	if (!trace->csv)
		return;
	if (t->action == REMINIS_ACTION_NDE)
		snprintf(draw, sizeof(draw), "%.6f", from_q24(t->draw_q24));
	fprintf(trace->csv, "%" PRId64 ",%u,%u,%u,%s,%u,%u,%u,%.6f,%.6f,%s,%u,%u,%u,%u\n",
		(int64_t)t->monotonic_ns + trace->utc_minus_monotonic_ns, t->local_port,
		t->remote_port, t->zone, action_names[t->action], t->delay_us, t->min_rtt_us,
		t->dtt_us, from_q24(t->gradient_q24), from_q24(t->mu_q24), draw, t->cwnd_before,
		t->cwnd_after, t->si_us, t->samples);
}

void trace_discard(struct trace_file *trace, const char *path)
{
	if (!trace->csv)
		return;
	fclose(trace->csv);
	unlink(path);
}

int trace_close(struct trace_file *trace)
{
	int failed;

	if (!trace->csv)
		return 0;
	errno = 0;
	failed = ferror(trace->csv);
	failed |= fclose(trace->csv);
	return failed ? (errno ? errno : EIO) : 0;
}
