// SPDX-License-Identifier: GPL-2.0-only
/* The core as a shared library for the tests; core_binding.py mirrors its structs. */
#include <stdint.h>
#include "../reminis_core.h"

const uint32_t core_sizes[4] = {sizeof(struct reminis_params), sizeof(struct reminis),
				sizeof(struct reminis_sender), sizeof(struct reminis_decision)};

uint32_t core_exp2(int32_t x_q24)
{
	return reminis_exp2(x_q24);
}

int32_t core_sigmoid(int32_t x_q24)
{
	return reminis_sigmoid(x_q24);
}

int32_t core_gauss(uint32_t word)
{
	return reminis_gauss(word);
}

uint32_t core_sqrt(uint32_t x_q24)
{
	return reminis_sqrt(x_q24);
}

uint32_t core_random(uint32_t seed, uint32_t flow, uint32_t n)
{
	return reminis_random(seed, flow, n);
}

void core_init(struct reminis *r, uint32_t flow)
{
	reminis_init(r, flow);
}

int core_on_ack(struct reminis *r, const struct reminis_params *params, uint64_t now_us,
		int32_t rtt_us, int repairing)
{
	return reminis_on_ack(r, params, now_us, rtt_us, repairing);
}

void core_on_restart(struct reminis *r, uint64_t now_us)
{
	reminis_on_restart(r, now_us);
}

void core_on_timestamp(struct reminis *r, const struct reminis_params *params, uint64_t now_us,
		       int32_t rtt_us, uint32_t peer_ms)
{
	reminis_on_timestamp(r, params, now_us, rtt_us, peer_ms);
}

uint32_t core_dtt(const struct reminis *r, const struct reminis_params *params)
{
	return reminis_dtt(r, params);
}

void core_guard(struct reminis *r, const struct reminis_params *params,
		const struct reminis_sender *s, struct reminis_decision *d)
{
	reminis_guard(r, params, s, d);
}
