/* SPDX-License-Identifier: GPL-2.0-only */
/* Which congestion control holds the name "reminis", and how ours takes and leaves it. */
#ifndef REMINIS_REGISTRATION_H
#define REMINIS_REGISTRATION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <bpf/libbpf.h>

#define CC_NAME	      "reminis"
#define MAP_NAME      "reminis_testbed" /* of our struct_ops map: how we know our own */
#define MAP_FLAG_LINK (1U << 13)	/* BPF_F_LINK of linux/bpf.h, Linux 6.4 */

enum holder { HOLDER_NONE, HOLDER_BPF, HOLDER_MODULE, HOLDER_OTHER };

struct registered {
	enum holder holder;
	uint32_t map_id; /* HOLDER_BPF */
	pid_t pid;	 /* HOLDER_BPF: the loader; 0: left behind */
};

struct registered find_registered(void);

/* Registers map. The link fd (≥ 0) dies with this process; -1 and *error = 0: the kernel has no
 * such links, and the registration stays until unregister_map(). */
int register_map(struct bpf_map *map, bool kernel_has_links, int *error);
/* Removes a registration without a link. 0, or a negative errno. */
int unregister_map(int map_fd);
/* Removes what a loader left behind; the number removed, or a negative errno. */
int remove_left_behind(void);

#endif
