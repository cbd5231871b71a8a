/* SPDX-License-Identifier: GPL-2.0-only */
/* The per-SI trace as CSV; columns in docs/run-directory.md, raw/cc-reminis.csv. */
#ifndef REMINIS_TRACE_H
#define REMINIS_TRACE_H

#include <stdint.h>
#include <stdio.h>
#include "trace_record.h"

extern const char *const action_names[4]; /* by enum reminis_action */

struct trace_file {
	FILE *csv; /* NULL: only counts records */
	int64_t utc_minus_monotonic_ns;
	uint64_t record_count;
};

/* Creates the file with its header; no file if path is NULL. Returns 0 or an errno. */
int trace_open(struct trace_file *trace, const char *path);
/* Measures the offset of UTC to the clock of the records; call it before each batch. */
void trace_sync_clock(struct trace_file *trace);
void trace_write(struct trace_file *trace, const struct trace_record *record);
/* Removes the file if the command fails before it writes records. */
void trace_discard(struct trace_file *trace, const char *path);
/* Returns 0, or the errno of any failed write (such as on a full disk). */
int trace_close(struct trace_file *trace);

#endif
