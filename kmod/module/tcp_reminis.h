/* SPDX-License-Identifier: GPL-2.0-only */
/* Interfaces between the source files of the module. */
#ifndef TCP_REMINIS_H
#define TCP_REMINIS_H

#include <net/tcp.h>

#include "compat.h"
#include "reminis_core.h"

/* A socket's private area: at most ICSK_CA_PRIV_SIZE bytes. */
struct reminis_flow {
	struct reminis guardian;
	u32 socket_dtt_us; /* set by the application; 0: none */
};

static inline struct reminis_flow *reminis_flow(const struct sock *sk)
{
	return inet_csk_ca(sk);
}

/* congestion.c */
extern struct tcp_congestion_ops reminis_ops;
extern atomic_t reminis_flow_count;	     /* numbers flows, for seeded draws */
u32 reminis_flow_dtt(const struct sock *sk); /* µs; the socket's, else its port's, else 0 */

/* params.c */
extern bool reminis_pacing;
struct reminis_params reminis_params_now(void);
u32 reminis_port_dtt(u16 local, u16 remote); /* µs; 0: none */

/* sockopt.c */
int reminis_sockopt_register(void);
void reminis_sockopt_unregister(void);

#endif
