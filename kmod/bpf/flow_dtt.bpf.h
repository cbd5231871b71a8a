/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A flow's own DTT: the one that the application set by the socket option
 * REMINIS_DTT (../reminis_uapi.h), else the one that the loader has for its port.
 *
 * A BPF congestion control has no socket options: two programs on the root
 * cgroup handle this one before the kernel refuses it as unknown.
 */
#ifndef REMINIS_FLOW_DTT_H
#define REMINIS_FLOW_DTT_H

#include <linux/errno.h>
#include "../reminis_uapi.h"

#define SOL_IP	       0
#define SOL_TCP	       6
#define SOL_IPV6       41
#define TCP_CONGESTION 13
#define HANDLED_OPTLEN -1 /* setsockopt: handled here, not by the kernel */
#define CONTINUE       1

struct socket_dtt {
	uint32_t given_us;
	uint32_t in_force_us; /* 0 before the first SI */
};

/* Exists while a socket uses Reminis: from init, or from an earlier setsockopt(), to release. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE); /* accepted sockets inherit it */
	__type(key, int);
	__type(value, struct socket_dtt);
} socket_dtt SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, REMINIS_PORTS_MAX);
	__type(key, uint32_t);	 /* local or remote port */
	__type(value, uint32_t); /* DTT in µs */
} port_dtt SEC(".maps");

/* Returns the DTT of the local port, else of the remote port, else 0. */
static __always_inline uint32_t dtt_of_ports(uint32_t local, uint32_t remote)
{
	uint32_t *dtt_us = bpf_map_lookup_elem(&port_dtt, &local);

	if (!dtt_us)
		dtt_us = bpf_map_lookup_elem(&port_dtt, &remote);
	return dtt_us ? *dtt_us : 0;
}

static __always_inline bool is_dtt_option(const struct bpf_sockopt *option)
{
	return (option->level == SOL_IP || option->level == SOL_IPV6) &&
	       option->optname == REMINIS_DTT;
}

static const char own_name[16] = "reminis";

static __always_inline bool is_ours(struct bpf_sock *sk)
{
	char name[16] = "";

	if (!sk || bpf_getsockopt(sk, SOL_TCP, TCP_CONGESTION, name, sizeof(name)))
		return false;
	return bpf_strncmp(name, sizeof(name), own_name) == 0;
}

static __always_inline int refuse(int error)
{
	bpf_set_retval(-error);
	return 0;
}

SEC("cgroup/setsockopt")
int reminis_set_dtt(struct bpf_sockopt *option)
{
	uint32_t *value_us = option->optval;
	struct bpf_sock *sk = option->sk;
	struct socket_dtt *own;

	if (!is_dtt_option(option))
		return CONTINUE;
	if (!is_ours(sk))
		return refuse(ENOPROTOOPT);
	if (option->optlen != sizeof(*value_us) || (void *)(value_us + 1) > option->optval_end ||
	    *value_us > REMINIS_DTT_MAX_US)
		return refuse(EINVAL);
	own = bpf_sk_storage_get(&socket_dtt, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (!own)
		return refuse(ENOMEM);
	own->given_us = *value_us;
	own->in_force_us = 0;
	option->optlen = HANDLED_OPTLEN;
	return CONTINUE;
}

SEC("cgroup/getsockopt")
int reminis_get_dtt(struct bpf_sockopt *option)
{
	uint32_t *value_us = option->optval;
	struct bpf_sock *sk = option->sk;
	struct socket_dtt *own;

	if (!is_dtt_option(option) || !sk)
		return CONTINUE;
	own = bpf_sk_storage_get(&socket_dtt, sk, NULL, 0);
	if (!own) /* another congestion control, whose name cannot be read here */
		return CONTINUE;
	if ((void *)(value_us + 1) > option->optval_end)
		return refuse(EINVAL);
	*value_us = own->in_force_us;
	if (!own->in_force_us)
		*value_us = own->given_us ? own->given_us : params.dtt_us;
	option->optlen = sizeof(*value_us);
	bpf_set_retval(0);
	return CONTINUE;
}

#endif
