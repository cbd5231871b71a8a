// SPDX-License-Identifier: GPL-2.0-only
/*
 * reminis-bpf trace-module: writes the module's tracepoint as the same CSV as `run`.
 *
 * Reads through its own tracing instance, so that other tracing is not disturbed, with the
 * monotonic clock, so that times are converted to UTC like those of the ring buffer.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "../reminis_core.h"
#include "commands.h"
#include "lifetime.h"
#include "message.h"
#include "registration.h"
#include "trace.h"

#define INSTANCES	"/sys/kernel/tracing/instances"
#define INSTANCE_PREFIX "reminis-testbed-"
#define PARAMETERS	"/sys/module/tcp_reminis/parameters"
#define POLL_PERIOD_NS	50000000

static char instance[128];

static int write_to(const char *file, const char *text)
{
	char path[256];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", instance, file);
	out = fopen(path, "we");
	if (!out)
		return errno;
	fputs(text, out);
	return fclose(out) ? errno : 0;
}

static int open_instance(void)
{
	int error;

	snprintf(instance, sizeof(instance), INSTANCES "/" INSTANCE_PREFIX "%d", getpid());
	if (mkdir(instance, 0700))
		return errno;
	error = write_to("trace_clock", "mono");
	if (!error)
		error = write_to("events/reminis/reminis_si/enable", "1");
	if (error)
		rmdir(instance);
	return error;
}

static uint8_t action_of(const char *name)
{
	uint8_t action = REMINIS_ACTION_CM;

	while (action && strcmp(action_names[action], name))
		action--;
	return action;
}

/* Parses the time of the line and the fields that module/tcp_reminis_trace.h prints. */
static bool parse_line(const char *line, struct trace_record *t)
{
	const char *event = strstr(line, ": reminis_si: "), *time = event;
	unsigned int sport, dport, zone, seconds, microseconds;
	char action[8];

	if (!event)
		return false;
	while (time > line && time[-1] != ' ')
		time--;
	if (sscanf(time, "%u.%6u", &seconds, &microseconds) != 2 ||
	    sscanf(event + 14,
		   "sport=%u dport=%u zone=%u action=%7s delay_us=%" SCNu32 " min_rtt_us=%" SCNu32
		   " dtt_us=%" SCNu32 " gradient_q24=%" SCNd64 " mu_q24=%" SCNd32
		   " draw_q24=%" SCNd32 " cwnd_before=%" SCNu32 " cwnd_after=%" SCNu32
		   " si_us=%" SCNu32 " samples=%" SCNu32,
		   &sport, &dport, &zone, action, &t->delay_us, &t->min_rtt_us, &t->dtt_us,
		   &t->gradient_q24, &t->mu_q24, &t->draw_q24, &t->cwnd_before, &t->cwnd_after,
		   &t->si_us, &t->samples) != 14)
		return false;
	t->monotonic_ns = seconds * UINT64_C(1000000000) + microseconds * UINT64_C(1000);
	t->local_port = sport;
	t->remote_port = dport;
	t->zone = zone;
	t->action = action_of(action);
	return true;
}

/* Reads what the pipe holds now; returns the number of events that the kernel reports as lost. */
static uint64_t read_events(FILE *pipe, struct trace_file *trace)
{
	struct trace_record record;
	char line[1024];
	unsigned long long lost;
	uint64_t lost_count = 0;

	trace_sync_clock(trace);
	while (fgets(line, sizeof(line), pipe))
		if (parse_line(line, &record))
			trace_write(trace, &record);
		else if (sscanf(line, "CPU:%*d [LOST %llu EVENTS]", &lost) == 1)
			lost_count += lost;
	clearerr(pipe); /* the pipe does not block: its end is temporary */
	fflush(trace->csv);
	return lost_count;
}

static void print_parameter(const char *name, bool *first)
{
	char path[300], value[4096] = "";
	FILE *file;

	snprintf(path, sizeof(path), PARAMETERS "/%s", name);
	file = fopen(path, "re");
	if (!file || !fgets(value, sizeof(value), file))
		value[0] = '\0';
	if (file)
		fclose(file);
	value[strcspn(value, "\n")] = '\0';
	printf("%s\"%s\":\"%s\"", *first ? "" : ",", name, value);
	*first = false;
}

static void print_ready(void)
{
	DIR *dir = opendir(PARAMETERS);
	struct dirent *entry;
	bool first = true;

	printf("{\"event\":\"ready\",\"cc\":\"" CC_NAME "\",\"implementation\":\"module\","
	       "\"parameters\":{");
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			print_parameter(entry->d_name, &first);
	if (dir)
		closedir(dir);
	printf("}}\n");
	fflush(stdout);
}

static int follow(struct trace_file *trace)
{
	const struct timespec period = {.tv_nsec = POLL_PERIOD_NS};
	char path[160];
	uint64_t lost_count = 0;
	FILE *pipe = NULL;
	int fd;

	snprintf(path, sizeof(path), "%s/trace_pipe", instance);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0)
		pipe = fdopen(fd, "r");
	if (!pipe)
		return fail("%s: %s", path, strerror(errno));
	print_ready();
	while (!lifetime_is_over()) {
		nanosleep(&period, NULL);
		lost_count += read_events(pipe, trace);
	}
	write_to("events/reminis/reminis_si/enable", "0");
	lost_count += read_events(pipe, trace);
	fclose(pipe);
	printf("{\"event\":\"done\",\"trace_records\":%" PRIu64 ",\"trace_lost\":%" PRIu64 "}\n",
	       trace->record_count, lost_count);
	return 0;
}

int remove_stale_instances(void)
{
	char path[512];
	DIR *dir = opendir(INSTANCES);
	struct dirent *entry;
	int pid, removed = 0;

	while (dir && (entry = readdir(dir)))
		if (sscanf(entry->d_name, INSTANCE_PREFIX "%d", &pid) == 1 && kill(pid, 0) &&
		    errno == ESRCH) {
			snprintf(path, sizeof(path), INSTANCES "/%s", entry->d_name);
			removed += !rmdir(path);
		}
	if (dir)
		closedir(dir);
	return removed;
}

int command_trace_module(int argc, char **argv)
{
	struct trace_file trace;
	int error, status;

	(void)argc;
	if (geteuid())
		return fail("not root: reading the kernel's trace needs root. Run it with sudo");
	if (access("/sys/module/tcp_reminis", F_OK))
		return fail("the module tcp_reminis is not loaded. Load it: modprobe tcp_reminis");
	error = trace_open(&trace, argv[1]);
	if (error)
		return fail("%s: %s", argv[1], strerror(error));
	error = open_instance();
	if (error) {
		trace_discard(&trace, argv[1]);
		return fail("cannot trace in " INSTANCES ": %s. Check that tracefs is mounted",
			    strerror(error));
	}
	status = follow(&trace);
	rmdir(instance);
	error = trace_close(&trace);
	if (error)
		status = fail("%s: %s. The trace is incomplete", argv[1], strerror(error));
	return status;
}
