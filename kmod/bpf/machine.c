// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <unistd.h>
#include <bpf/btf.h>
#include "machine.h"

#define BTF_PATH "/sys/kernel/btf/vmlinux"

/* The file may be missing with BPF_JIT_ALWAYS_ON, or in a child network namespace. */
static bool jit_is_on(void)
{
	FILE *file = fopen("/proc/sys/net/core/bpf_jit_enable", "re");
	int value = 1;

	if (file) {
		if (fscanf(file, "%d", &value) != 1)
			value = 1;
		fclose(file);
	}
	return value != 0;
}

static bool has_struct(const struct btf *btf, const char *name)
{
	return btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT) > 0;
}

struct machine probe_machine(void)
{
	struct machine machine = {.root = geteuid() == 0, .jit = jit_is_on()};
	struct btf *btf;

	machine.btf = access(BTF_PATH, R_OK) == 0;
	btf = machine.btf ? btf__parse(BTF_PATH, NULL) : NULL;
	if (!btf)
		return machine;
	machine.struct_ops = has_struct(btf, "bpf_struct_ops_tcp_congestion_ops");
	machine.links = has_struct(btf, "bpf_struct_ops_link");
	btf__free(btf);
	return machine;
}

const char *why_not(const struct machine *machine)
{
	if (!machine->root)
		return "not root: loading a congestion control needs root. Run it with sudo";
	if (!machine->btf)
		return "this kernel has no BTF (" BTF_PATH " is missing). Use a kernel built with "
		       "CONFIG_DEBUG_INFO_BTF=y, such as Debian's, Ubuntu's or Fedora's, or use "
		       "the kernel module";
	if (!machine->struct_ops)
		return "this kernel does not support BPF congestion controls. Use Linux 5.6 or "
		       "newer with CONFIG_BPF_JIT=y and CONFIG_BPF_SYSCALL=y, or use the kernel "
		       "module";
	if (!machine->jit)
		return "the BPF JIT is off. Enable it: sysctl -w net.core.bpf_jit_enable=1";
	return NULL;
}
