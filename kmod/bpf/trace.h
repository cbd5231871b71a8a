/* SPDX-License-Identifier: GPL-2.0-only */
/* The per-SI trace as CSV; columns in docs/run-directory.md, raw/cc-reminis.csv. */
#ifndef REMINIS_TRACE_H
#define REMINIS_TRACE_H

#include <stdint.h>
#include <stdio.h>
#include "trace_record.h"

extern const char *const action_names[4]; /* by enum reminis_action */

struct trace_file {
	FILE *csv; /* NULL: records are counted only */
	int64_t utc_minus_monotonic_ns;
	uint64_t record_count;
};

/* Creates the file with its header. 0, or an errno. path NULL: no file. */
int trace_open(struct trace_file *trace, const char *path);
/* Measures how far UTC is from the records' clock; call before each batch. */
void trace_sync_clock(struct trace_file *trace);
void trace_write(struct trace_file *trace, const struct trace_record *record);
/* Removes a file that will not be written. */
void trace_discard(struct trace_file *trace, const char *path);
/* 0, or the errno of a write that failed at any time (a full disk). */
int trace_close(struct trace_file *trace);

#endif
