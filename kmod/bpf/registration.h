/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds what has registered the name "reminis"; registers and unregisters this program's map. */
#ifndef REMINIS_REGISTRATION_H
#define REMINIS_REGISTRATION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <bpf/libbpf.h>

#define CC_NAME	      "reminis"
#define MAP_NAME      "reminis_testbed" /* name of our struct_ops map, by which we recognise it */
#define MAP_FLAG_LINK (1U << 13)	/* BPF_F_LINK of linux/bpf.h, Linux 6.4 */

enum holder { HOLDER_NONE, HOLDER_BPF, HOLDER_MODULE, HOLDER_OTHER };

struct registered {
	enum holder holder;
	uint32_t map_id; /* HOLDER_BPF */
	pid_t pid;	 /* HOLDER_BPF: the loader; 0: left behind */
};

struct registered find_registered(void);

/*
 * Registers map. Returns the link's fd (≥ 0), which ends with this process, or -1. With -1 and
 * *error = 0 the kernel has no such links: the registration stays until unregister_map().
 */
int register_map(struct bpf_map *map, bool kernel_has_links, int *error);
/* Removes a registration without a link. Returns 0 or a negative errno. */
int unregister_map(int map_fd);
/* Removes what a loader left behind; returns the number removed, or a negative errno. */
int remove_left_behind(void);

#endif
