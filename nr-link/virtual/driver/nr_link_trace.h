/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a congestion control that is built into this kernel writes a trace: it
 * declares its columns before the link opens (its module_init), and gives a
 * row of numbers for each of its decisions. The library makes lines of CSV of
 * them, each with the time before it.
 *
 * setup/virtual-kernel copies this file to include/linux. The library has the
 * same types (../library/src/interface.rs; see nr_link.h).
 */
#ifndef _LINUX_NR_LINK_TRACE_H
#define _LINUX_NR_LINK_TRACE_H

struct nr_link_trace_column {
	const char *name;
	/* What to write for 0, 1, … in place of these numbers; NULL: numbers. */
	const char *const *labels;
	unsigned int label_count;
	/* The number's bits behind the binary point; more than 0: six decimals are written. */
	unsigned int fraction_bits;
};

struct nr_link_trace {
	/* of the congestion control */
	const char *name;
	const struct nr_link_trace_column *columns;
	unsigned int column_count;
	/* set by nr_link_trace_register() */
	unsigned int number;
	const struct nr_link_trace *next;
};

/* A number that is written as nothing. */
#define NR_LINK_TRACE_EMPTY (-__LONG_LONG_MAX__ - 1)

void nr_link_trace_register(struct nr_link_trace *trace);
/* values: one for each column */
void nr_link_trace_row(const struct nr_link_trace *trace, const long long *values);

#endif
