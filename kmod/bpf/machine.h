/* SPDX-License-Identifier: GPL-2.0-only */
/* The features of this kernel that a BPF congestion control needs. */
#ifndef REMINIS_MACHINE_H
#define REMINIS_MACHINE_H

#include <stdbool.h>

struct machine {
	bool root; /* may load BPF programs: CAP_BPF + CAP_NET_ADMIN, as root has */
	bool btf;  /* the kernel describes its own types */
	bool jit;
	bool struct_ops; /* congestion controls may be BPF programs */
	bool links;	 /* a registration ends with its loader (Linux 6.4) */
};

struct machine probe_machine(void);
/* Returns NULL if BPF Reminis can run, else what is missing and how to fix it. */
const char *why_not(const struct machine *machine);

#endif
