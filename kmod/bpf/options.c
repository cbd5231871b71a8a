// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "options.h"

enum { OPT_DTT = 256, OPT_FACTOR, OPT_PORT, OPT_TRACE, OPT_SEED, OPT_NO_PACING, OPT_SWITCH };

const struct switch_name switch_names[12] = {
	{REMINIS_NO_NDE, "no-nde"},
	{REMINIS_NDE_MEAN, "nde-mean"},
	{REMINIS_NO_PS, "no-ps"},
	{REMINIS_NO_CM, "no-cm"},
	{REMINIS_NO_AIMD, "no-aimd"},
	{REMINIS_EWMA, "ewma"},
	{REMINIS_STALE_RTT, "stale-rtt"},
	{REMINIS_JUMP_TO_4, "jump-to-4"},
	{REMINIS_MEAN_BASE, "mean-base"},
	{REMINIS_ONE_WAY, "one-way"},
	{REMINIS_NDE_BOUNDED, "nde-bounded"},
	{REMINIS_CM_DRAIN, "cm-drain"},
};

static const struct option long_options[] = {
	{"dtt", required_argument, NULL, OPT_DTT},
	{"dtt-factor", required_argument, NULL, OPT_FACTOR},
	{"port-dtt", required_argument, NULL, OPT_PORT},
	{"trace", required_argument, NULL, OPT_TRACE},
	{"seed", required_argument, NULL, OPT_SEED},
	{"no-pacing", no_argument, NULL, OPT_NO_PACING},
	{"verbose", no_argument, NULL, 'v'},
	{"no-nde", no_argument, NULL, OPT_SWITCH},
	{"nde-mean", no_argument, NULL, OPT_SWITCH},
	{"no-ps", no_argument, NULL, OPT_SWITCH},
	{"no-cm", no_argument, NULL, OPT_SWITCH},
	{"no-aimd", no_argument, NULL, OPT_SWITCH},
	{"ewma", no_argument, NULL, OPT_SWITCH},
	{"stale-rtt", no_argument, NULL, OPT_SWITCH},
	{"jump-to-4", no_argument, NULL, OPT_SWITCH},
	{"mean-base", no_argument, NULL, OPT_SWITCH},
	{"one-way", no_argument, NULL, OPT_SWITCH},
	{"nde-bounded", no_argument, NULL, OPT_SWITCH},
	{"cm-drain", no_argument, NULL, OPT_SWITCH},
	{NULL, 0, NULL, 0},
};

static void refuse(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fprintf(stderr, "reminis-bpf: ");
	vfprintf(stderr, format, arguments);
	fprintf(stderr, "\n");
	va_end(arguments);
	exit(2);
}

/* Parses "30ms" into µs. The unit is required, so that 30 cannot be mistaken for seconds. */
static uint32_t parse_dtt(const char *option, const char *text)
{
	char *unit;
	double value = strtod(text, &unit), scale_us = 0;

	if (!strcmp(unit, "us"))
		scale_us = 1;
	else if (!strcmp(unit, "ms"))
		scale_us = 1e3;
	else if (!strcmp(unit, "s"))
		scale_us = 1e6;
	if (unit == text || scale_us == 0)
		refuse("%s %s: not a time with a unit. Write for example 30ms", option, text);
	value = round(value * scale_us);
	if (!(value >= 1 && value <= REMINIS_DTT_MAX_US))
		refuse("%s %s: out of range. Choose a DTT above 0 and at most 10s", option, text);
	return (uint32_t)value;
}

static uint32_t parse_factor(const char *text)
{
	char *end;
	double factor = strtod(text, &end);
	double q16 = round(factor * 65536);

	if (end == text || *end || !(q16 > 65536 && q16 <= REMINIS_DTT_FACTOR_MAX_Q16))
		refuse("--dtt-factor %s: not a valid factor of mRTT. Choose one above 1 and at "
		       "most 100",
		       text);
	return (uint32_t)q16;
}

static unsigned long parse_whole(const char *text, const char *end_char, unsigned long max)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end != *end_char || value == 0 || value > max)
		return 0;
	return value;
}

static void add_port(struct options *options, const char *text)
{
	struct port_dtt *entry = &options->ports[options->port_count];
	const char *equals = strchr(text, '=');

	entry->port = equals ? parse_whole(text, "=", 65535) : 0;
	if (!entry->port)
		refuse("--port-dtt %s: not of the form PORT=DTT. Write for example 5201=30ms",
		       text);
	if (++options->port_count == REMINIS_PORTS_MAX)
		refuse("--port-dtt: too many ports. Give at most %d", REMINIS_PORTS_MAX - 1);
	entry->dtt_us = parse_dtt("--port-dtt", equals + 1);
}

static uint32_t switch_flag(const char *name)
{
	for (size_t i = 0; i < sizeof(switch_names) / sizeof(*switch_names); i++)
		if (!strcmp(switch_names[i].name, name))
			return switch_names[i].flag;
	return 0;
}

void parse_options(int argc, char **argv, struct options *options)
{
	int option, index;

	*options = (struct options){.pacing = true};
	options->params.dtt_factor_q16 = REMINIS_DTT_FACTOR_DEFAULT_Q16;
	while ((option = getopt_long(argc, argv, "v", long_options, &index)) != -1) {
		if (option == OPT_DTT)
			options->params.dtt_us = parse_dtt("--dtt", optarg);
		else if (option == OPT_FACTOR)
			options->params.dtt_factor_q16 = parse_factor(optarg);
		else if (option == OPT_PORT)
			add_port(options, optarg);
		else if (option == OPT_TRACE)
			options->trace_path = optarg;
		else if (option == OPT_SEED)
			options->params.seed = parse_whole(optarg, "", UINT32_MAX);
		else if (option == OPT_NO_PACING)
			options->pacing = false;
		else if (option == OPT_SWITCH)
			options->params.switches |= switch_flag(long_options[index].name);
		else if (option == 'v')
			options->verbose = true;
		else
			exit(2); /* getopt has printed what is wrong */
		if (option == OPT_SEED && !options->params.seed)
			refuse("--seed %s: not valid. Give a whole number from 1 to 4294967295",
			       optarg);
	}
	if (optind < argc)
		refuse("%s: unexpected argument. Remove it", argv[optind]);
}
