// SPDX-License-Identifier: GPL-2.0-only
/*
 * reminis-bpf: registers the BPF congestion control "reminis" for as long as
 * it runs, and writes its trace. docs/reminis.md describes the commands.
 *
 * Prints JSON only to stdout, one line per event; errors go to stderr.
 */
#include <stdio.h>
#include <string.h>
#include "commands.h"
#include "lifetime.h"

static const char usage[] =
	"usage: reminis-bpf run [--dtt TIME] [--dtt-factor X] [--port-dtt PORT=TIME]…\n"
	"                       [--trace FILE.csv] [--seed N] [--no-pacing] [--verbose]\n"
	"                       [--no-nde] [--nde-mean] [--no-ps] [--no-cm] [--no-aimd]\n"
	"                       [--ewma] [--stale-rtt] [--jump-to-4]\n"
	"                       [--mean-base] [--one-way] [--nde-bounded] [--cm-drain]\n"
	"       reminis-bpf trace-module FILE.csv   trace of the module tcp_reminis\n"
	"       reminis-bpf status                  show registration and kernel support\n"
	"       reminis-bpf clean                   remove what a killed loader left registered\n"
	"TIME needs a unit: 30ms, 0.03s or 30000us.\n";

int main(int argc, char **argv)
{
	const char *command = argc > 1 ? argv[1] : "";

	lifetime_begin();
	if (argc > 1)
		argv[1] = argv[0]; /* getopt prints it in its messages */
	if (!strcmp(command, "run"))
		return command_run(argc - 1, argv + 1);
	if (!strcmp(command, "trace-module") && argc == 3)
		return command_trace_module(argc - 1, argv + 1);
	if (!strcmp(command, "status") && argc == 2)
		return command_status();
	if (!strcmp(command, "clean") && argc == 2)
		return command_clean();
	fputs(usage, stderr);
	return 2;
}
