// SPDX-License-Identifier: GPL-2.0-only
/* reminis-bpf status and clean. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "commands.h"
#include "machine.h"
#include "message.h"
#include "registration.h"

int command_status(void)
{
	static const char *const holders[] = {"none", "bpf", "module", "other"};
	struct machine machine = probe_machine();
	struct registered registered = find_registered();
	const char *reason = why_not(&machine);

	printf("{\"registered\":\"%s\",\"map_id\":%u,\"pid\":%d,\"left_behind\":%s,"
	       "\"root\":%s,\"btf\":%s,\"jit\":%s,\"struct_ops\":%s,\"links\":%s,"
	       "\"usable\":%s,\"why_not\":%s%s%s}\n",
	       holders[registered.holder], registered.map_id, registered.pid,
	       registered.holder == HOLDER_BPF && !registered.pid ? "true" : "false",
	       machine.root ? "true" : "false", machine.btf ? "true" : "false",
	       machine.jit ? "true" : "false", machine.struct_ops ? "true" : "false",
	       machine.links ? "true" : "false", reason ? "false" : "true", reason ? "\"" : "",
	       reason ? reason : "null", reason ? "\"" : "");
	return 0;
}

int command_clean(void)
{
	int removed;

	if (geteuid())
		return fail("not root: removing a congestion control needs root. Run it with sudo");
	removed = remove_left_behind();
	if (removed < 0)
		return fail("cannot remove what was left behind: %s", strerror(-removed));
	printf("{\"event\":\"cleaned\",\"removed\":%d,\"trace_instances\":%d}\n", removed,
	       remove_stale_instances());
	return 0;
}
