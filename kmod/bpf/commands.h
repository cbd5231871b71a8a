/* SPDX-License-Identifier: GPL-2.0-only */
/* The commands of reminis-bpf. Each takes its own argv and returns the exit code. */
#ifndef REMINIS_COMMANDS_H
#define REMINIS_COMMANDS_H

int command_run(int argc, char **argv);
int command_trace_module(int argc, char **argv);
int command_status(void);
int command_clean(void);

/* Removes the tracing instances of killed trace-module commands; returns their number. */
int remove_stale_instances(void);

#endif
