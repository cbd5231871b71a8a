/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line of reminis-bpf, resolved into one valid value. */
#ifndef REMINIS_OPTIONS_H
#define REMINIS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include "../reminis_core.h"
#include "trace_record.h"

struct port_dtt {
	uint32_t port, dtt_us;
};

struct options {
	struct reminis_params params;
	bool pacing;
	bool verbose;
	const char *trace_path; /* NULL: no trace */
	struct port_dtt ports[REMINIS_PORTS_MAX];
	uint32_t port_count;
};

/* One ablation switch: its flag, and its name without the leading dashes. */
struct switch_name {
	uint32_t flag;
	const char *name;
};
extern const struct switch_name switch_names[12];

/* Parses the arguments after the command. On bad input prints one error and exits with code 2. */
void parse_options(int argc, char **argv, struct options *options);

#endif
