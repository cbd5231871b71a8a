/* SPDX-License-Identifier: GPL-2.0-only */
/* What this kernel offers to a BPF congestion control. */
#ifndef REMINIS_MACHINE_H
#define REMINIS_MACHINE_H

#include <stdbool.h>

struct machine {
	bool root; /* may load BPF programs: CAP_BPF + CAP_NET_ADMIN, as root has */
	bool btf;  /* the kernel describes its own types */
	bool jit;
	bool struct_ops; /* congestion controls may be BPF programs */
	bool links;	 /* a registration can die with its loader (Linux 6.4) */
};

struct machine probe_machine(void);
/* NULL when BPF Reminis can run, else what is missing and how to mend it. */
const char *why_not(const struct machine *machine);

#endif
