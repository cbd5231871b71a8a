// SPDX-License-Identifier: GPL-2.0-only
/* reminis-bpf run: registers the congestion control and drains its trace until the end. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "cgroup.h"
#include "commands.h"
#include "lifetime.h"
#include "machine.h"
#include "message.h"
#include "options.h" /* before the skeleton, which uses its types */
#include "../build/reminis.skel.h"
#include "registration.h"
#include "trace.h"

#define DRAIN_PERIOD_NS 50000000 /* the ring buffer holds twice as long at 100 records per ms */

static char libbpf_log[1 << 20]; /* the verifier's log of a refusal */
static size_t libbpf_log_length;

static int keep_log(enum libbpf_print_level level, const char *format, va_list arguments)
{
	size_t room = sizeof(libbpf_log) - libbpf_log_length;
	int written;

	if (level == LIBBPF_DEBUG || room < 2)
		return 0;
	written = vsnprintf(libbpf_log + libbpf_log_length, room, format, arguments);
	if (written > 0)
		libbpf_log_length += (size_t)written < room ? (size_t)written : room - 1;
	return written;
}

/* The verifier's reason is on the line before its statistics ("processed N insns"). */
static void print_refusal(void)
{
	char *end = strstr(libbpf_log, "\nprocessed "), *start = end;

	if (!end)
		return;
	while (start > libbpf_log && start[-1] != '\n')
		start--;
	fprintf(stderr, "reminis-bpf: the kernel's verifier says: %.*s (--verbose shows the log)\n",
		(int)(end - start), start);
}

static int fail_to_load(int error, bool verbose)
{
	if (verbose)
		fputs(libbpf_log, stderr);
	else
		print_refusal();
	if (error == EPERM)
		return fail(
			"loading was refused: no permission for BPF or for locked memory. Run as "
			"root, and on kernels before 5.11 raise `ulimit -l`");
	return fail("the kernel did not accept the BPF program: %s", strerror(error));
}

static int fail_to_register(int error)
{
	struct registered registered = find_registered();

	if (registered.holder == HOLDER_NONE)
		return fail("the kernel did not register the congestion control: %s",
			    strerror(error));
	if (registered.holder == HOLDER_MODULE)
		return fail("the name reminis is taken by the module tcp_reminis. Use the module, "
			    "or run `rmmod tcp_reminis`");
	if (registered.holder == HOLDER_OTHER)
		return fail("the name reminis is taken by another program's congestion control");
	if (registered.pid)
		return fail(
			"reminis is already registered by process %d (reminis-bpf). Stop it first",
			registered.pid);
	return fail("a killed loader left reminis registered. Remove it: reminis-bpf clean");
}

/* The congestion control must also work on a kernel without cgroup BPF. */
static void leave_out_unsupported(struct reminis_bpf *skeleton)
{
	bool supported = libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_CGROUP_SOCKOPT, NULL) == 1;

	bpf_program__set_autoload(skeleton->progs.reminis_set_dtt, supported);
	bpf_program__set_autoload(skeleton->progs.reminis_get_dtt, supported);
}

static struct reminis_bpf *load(const struct options *options, const struct machine *machine)
{
	struct reminis_bpf *skeleton = reminis_bpf__open();
	struct bpf_map *ops;
	int error;

	if (!skeleton)
		return NULL;
	ops = skeleton->maps.reminis_testbed;
	skeleton->rodata->pacing = options->pacing;
	skeleton->rodata->tracing = options->trace_path != NULL;
	memcpy((void *)&skeleton->rodata->params, &options->params, sizeof(options->params));
	if (machine->links)
		bpf_map__set_map_flags(ops, bpf_map__map_flags(ops) | MAP_FLAG_LINK);
	leave_out_unsupported(skeleton);
	error = reminis_bpf__load(skeleton);
	for (uint32_t i = 0; !error && i < options->port_count; i++)
		error = bpf_map__update_elem(skeleton->maps.port_dtt, &options->ports[i].port,
					     sizeof(uint32_t), &options->ports[i].dtt_us,
					     sizeof(uint32_t), BPF_ANY);
	if (!error)
		return skeleton;
	reminis_bpf__destroy(skeleton);
	errno = -error;
	return NULL;
}

/*
 * Handles the socket option REMINIS_DTT as long as this process runs. An old kernel or a container
 * may not allow it; everything else works without it.
 */
static bool answer_socket_option(struct reminis_bpf *skeleton)
{
	int cgroup = open_root_cgroup();

	if (cgroup >= 0) {
		skeleton->links.reminis_set_dtt =
			bpf_program__attach_cgroup(skeleton->progs.reminis_set_dtt, cgroup);
		skeleton->links.reminis_get_dtt =
			bpf_program__attach_cgroup(skeleton->progs.reminis_get_dtt, cgroup);
		close(cgroup);
	}
	if (skeleton->links.reminis_set_dtt && skeleton->links.reminis_get_dtt)
		return true;
	fprintf(stderr, "reminis-bpf: applications cannot set REMINIS_DTT here: %s\n",
		strerror(cgroup < 0 ? -cgroup : errno));
	return false;
}

static void print_ready(const struct reminis_bpf *skeleton, const struct options *options,
			bool socket_option, bool persistent)
{
	uint32_t switches = skeleton->rodata->params.switches;
	const char *comma = "";

	printf("{\"event\":\"ready\",\"cc\":\"" CC_NAME
	       "\",\"implementation\":\"bpf\",\"dtt_us\":");
	if (skeleton->rodata->params.dtt_us)
		printf("%u", skeleton->rodata->params.dtt_us);
	else
		printf("null");
	printf(",\"dtt_factor\":%.4f,\"seed\":%u,\"pacing\":%s,\"switches\":[",
	       skeleton->rodata->params.dtt_factor_q16 / 65536.0, skeleton->rodata->params.seed,
	       skeleton->rodata->pacing ? "true" : "false");
	for (size_t i = 0; i < sizeof(switch_names) / sizeof(*switch_names); i++)
		if (switches & switch_names[i].flag) {
			printf("%s\"%s\"", comma, switch_names[i].name);
			comma = ",";
		}
	printf("],\"port_dtt_us\":{");
	for (uint32_t i = 0; i < options->port_count; i++)
		printf("%s\"%u\":%u", i ? "," : "", options->ports[i].port,
		       options->ports[i].dtt_us);
	printf("},\"socket_option\":%s,\"outlives_loader\":%s}\n", socket_option ? "true" : "false",
	       persistent ? "true" : "false");
	fflush(stdout);
}

static int on_record(void *context, void *data, size_t size)
{
	(void)size;
	trace_write(context, data);
	return 0;
}

static void drain(struct ring_buffer *ring, struct trace_file *trace)
{
	const struct timespec period = {.tv_nsec = DRAIN_PERIOD_NS};

	while (!lifetime_is_over()) {
		nanosleep(&period, NULL);
		trace_sync_clock(trace);
		ring_buffer__consume(ring);
		if (trace->csv)
			fflush(trace->csv);
	}
}

static int run_registered(struct reminis_bpf *skeleton, const struct options *options,
			  const struct machine *machine, struct trace_file *trace)
{
	int ops_fd = bpf_map__fd(skeleton->maps.reminis_testbed);
	struct ring_buffer *ring =
		ring_buffer__new(bpf_map__fd(skeleton->maps.trace), on_record, trace, NULL);
	int error, link;

	if (!ring)
		return fail("cannot map the ring buffer of the trace: %s", strerror(errno));
	link = register_map(skeleton->maps.reminis_testbed, machine->links, &error);
	if (error) {
		ring_buffer__free(ring);
		return fail_to_register(error);
	}
	print_ready(skeleton, options, answer_socket_option(skeleton), link < 0);
	drain(ring, trace);
	error = 0;
	if (link >= 0)
		close(link);
	else
		error = unregister_map(ops_fd);
	trace_sync_clock(trace);
	ring_buffer__consume(ring);
	ring_buffer__free(ring);
	return error ? fail("cannot unregister: %s", strerror(-error)) : 0;
}

int command_run(int argc, char **argv)
{
	struct machine machine;
	struct options options;
	struct reminis_bpf *skeleton;
	struct trace_file trace;
	int error, status;

	libbpf_set_print(keep_log);
	parse_options(argc, argv, &options);
	machine = probe_machine();
	if (why_not(&machine))
		return fail("%s", why_not(&machine));
	if (find_registered().holder != HOLDER_NONE)
		return fail_to_register(EEXIST);
	error = trace_open(&trace, options.trace_path);
	if (error)
		return fail("%s: %s", options.trace_path, strerror(error));
	skeleton = load(&options, &machine);
	if (!skeleton) {
		error = errno;
		trace_discard(&trace, options.trace_path);
		return fail_to_load(error, options.verbose);
	}
	status = run_registered(skeleton, &options, &machine, &trace);
	if (!status)
		printf("{\"event\":\"done\",\"trace_records\":%llu,\"trace_lost\":%llu,\"flows\":%"
		       "u}\n",
		       (unsigned long long)trace.record_count,
		       (unsigned long long)skeleton->bss->trace_lost_count,
		       skeleton->bss->flow_count);
	error = trace_close(&trace);
	if (error)
		status = fail("%s: %s. The trace is incomplete", options.trace_path,
			      strerror(error));
	reminis_bpf__destroy(skeleton);
	return status;
}
