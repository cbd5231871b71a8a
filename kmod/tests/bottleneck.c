// SPDX-License-Identifier: GPL-2.0-only
/* Simulates one flow over one bottleneck, packet by packet and repeatably: a FIFO queue of
 * unlimited length, a rate that may change once (at once or as a ramp), then a fixed delay; every
 * packet is acknowledged. The window is controlled by the core and by Reno's congestion avoidance.
 * There is no loss.
 *
 * It covers only the assumptions of the paper's appendix E, and the steps of its figures 3, 4, 5
 * and 10.
 */
#include <stdint.h>
#include <stdlib.h>
#include "../reminis_core.h"

#define RING (1 << 16) /* packets in flight, at most */

struct scenario {
	struct reminis_params params;
	uint32_t later_switches; /* used from change_us on */
	uint32_t mrtt_us;
	uint32_t initial_cwnd, initial_ssthresh;
	double rate_pps, later_rate_pps; /* packets per second */
	uint64_t change_us, ramp_us;	 /* start and duration of the change */
	uint64_t end_us, measure_from_us, measure_to_us;
	uint32_t
		target_cwnd; /* intervals_to_target counts the SIs until the window has this size */
};

struct outcome {
	double mean_queueing_us, max_queueing_us; /* of packets sent in the measured interval */
	double utilisation;			  /* in the measured interval */
	double p95_queueing_us;
	uint32_t intervals_to_target; /* 0: never reached */
	uint32_t intervals, nde_count, ps_count, cm_count;
};

struct packet {
	double sent_us, left_us;
};

struct run {
	const struct scenario *scenario;
	struct outcome *outcome;
	struct reminis_params params; /* currently used */
	struct reminis guardian;
	struct packet ring[RING];
	uint64_t head, tail; /* oldest in flight; next to send */
	uint32_t cwnd, ssthresh, ack_credit;
	double link_free_us, delivered;
	float *queueing_us; /* samples, for the percentile */
	uint64_t sample_count;
};

static double rate_at(const struct scenario *s, double time_us)
{
	double after_us = time_us - s->change_us;

	if (after_us < 0)
		return s->rate_pps;
	if (after_us >= s->ramp_us)
		return s->later_rate_pps;
	return s->rate_pps + (s->later_rate_pps - s->rate_pps) * after_us / s->ramp_us;
}

static int is_measured(const struct scenario *s, double time_us)
{
	return time_us >= s->measure_from_us && time_us < s->measure_to_us;
}

static void send_allowed(struct run *run, double now_us)
{
	while (run->tail - run->head < run->cwnd && run->tail - run->head < RING) {
		double start_us = now_us > run->link_free_us ? now_us : run->link_free_us;

		run->link_free_us = start_us + 1e6 / rate_at(run->scenario, start_us);
		run->ring[run->tail++ % RING] = (struct packet){now_us, run->link_free_us};
	}
}

/* Records the queueing delay of a packet: time until it left the link minus its transmission. */
static void measure(struct run *run, const struct packet *p)
{
	double own_us = 1e6 / rate_at(run->scenario, p->left_us);
	double queueing_us = p->left_us - p->sent_us - own_us;
	struct outcome *o = run->outcome;

	if (is_measured(run->scenario, p->left_us))
		run->delivered += own_us;
	if (!is_measured(run->scenario, p->sent_us))
		return;
	o->mean_queueing_us += queueing_us;
	if (queueing_us > o->max_queueing_us)
		o->max_queueing_us = queueing_us;
	run->queueing_us[run->sample_count++] = queueing_us;
}

static void avoid_congestion(struct run *run)
{
	if (run->cwnd < run->ssthresh) {
		run->cwnd++;
	} else if (!(run->params.switches & REMINIS_NO_AIMD) && ++run->ack_credit >= run->cwnd) {
		run->ack_credit = 0;
		run->cwnd++;
	}
}

static void end_interval(struct run *run, double now_us)
{
	const struct reminis_params *params = &run->params;
	struct outcome *o = run->outcome;
	struct reminis_decision d;
	struct reminis_sender sender = {
		.now_us = now_us,
		.cwnd = run->cwnd,
		.ssthresh = run->ssthresh,
		.cwnd_max = RING,
		.random = reminis_random(params->seed, 0, run->guardian.draws),
		.open = 1,
		.cwnd_limited = 1,
	};

	reminis_guard(&run->guardian, params, &sender, &d);
	run->cwnd = d.cwnd_after;
	run->ssthresh = d.ssthresh_after;
	o->intervals++;
	o->nde_count += d.action == REMINIS_ACTION_NDE;
	o->ps_count += d.action == REMINIS_ACTION_PS;
	o->cm_count += d.action == REMINIS_ACTION_CM;
}

static int compare(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

static void summarise(struct run *run)
{
	const struct scenario *s = run->scenario;
	struct outcome *o = run->outcome;

	if (run->sample_count) {
		o->mean_queueing_us /= run->sample_count;
		qsort(run->queueing_us, run->sample_count, sizeof(float), compare);
		o->p95_queueing_us = run->queueing_us[run->sample_count * 95 / 100];
	}
	o->utilisation = run->delivered / (s->measure_to_us - s->measure_from_us);
}

int bottleneck_run(const struct scenario *s, struct outcome *o)
{
	struct run *run = calloc(1, sizeof(*run));
	double faster = s->rate_pps > s->later_rate_pps ? s->rate_pps : s->later_rate_pps;
	double now_us = 0;

	*o = (struct outcome){0};
	if (!run)
		return -1;
	*run = (struct run){.scenario = s, .outcome = o, .params = s->params};
	run->cwnd = s->initial_cwnd;
	run->ssthresh = s->initial_ssthresh;
	run->queueing_us = malloc(sizeof(float) * (faster * s->end_us / 1e6 + RING));
	reminis_init(&run->guardian, 0);
	send_allowed(run, 0);
	while (run->queueing_us && now_us < s->end_us) {
		struct packet p = run->ring[run->head++ % RING];

		now_us = p.left_us + s->mrtt_us;
		if (now_us >= s->change_us)
			run->params.switches = s->later_switches;
		measure(run, &p);
		if (reminis_on_ack(&run->guardian, &run->params, now_us, now_us - p.sent_us, 0))
			end_interval(run, now_us);
		avoid_congestion(run);
		if (!o->intervals_to_target && run->cwnd >= s->target_cwnd)
			o->intervals_to_target = o->intervals;
		send_allowed(run, now_us);
	}
	summarise(run);
	free(run->queueing_us);
	free(run);
	return 0;
}
