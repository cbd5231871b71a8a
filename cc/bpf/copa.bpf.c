// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
/*
 * Copa (Arun and Balakrishnan, "Copa: Practical Delay-Based Congestion Control
 * for the Internet", NSDI 2018).
 *
 * Model. dq = RTTstanding - RTTmin is the queueing delay: RTTstanding is the
 * least RTT of the last srtt/2, RTTmin that of the last 10 s. The sender steers
 * to the rate
 *
 *	λt = 1 / (δ · dq)                                            (section 2)
 *
 * At each ACK the window W changes by v/(δ·W) packets for each acknowledged one:
 * up if the rate λ = W/RTTstanding is at most λt, else down. The velocity v
 * doubles each round trip once W went the same way for three of them, and is 1
 * after W has turned (section 2.1). Until λ first exceeds λt, W doubles each
 * round trip. Packets are paced at 2W/RTTstanding.
 *
 * The queue of a lone flow then goes up and down between 0 and 2.5/δ packets in
 * 5 round trips. If it was never nearly empty, dq < 0.1 (RTTmax - RTTmin), in the
 * last 5 of them (RTTmax: of the last 4), the sender competes with one that fills
 * queues (section 2.2): 1/δ then grows by 1 each round trip and is halved at a
 * loss, and is never below its value in default mode.
 *
 * After a timeout W begins again at 2 packets, as with RFC 5681; the paper does
 * not say.
 */
#include "congestion.h"
#include "windowed.h"

#ifndef DELTA
#define DELTA 0.5 /* parameter, 0.004 to 1: packets of queue, as 1/δ, in default mode */
#endif
#ifndef COMPETE
#define COMPETE 1 /* parameter, 0 to 1: competes with flows that fill queues */
#endif

#define ONE		    1024 /* of 1/δ and of W in fixed point */
#define INVERSE_DELTA	    ((__u32)(ONE / DELTA))
#define LARGEST_INVERSE	    (1000 * ONE)
#define LARGEST_WINDOW	    ((__u64)1000000 * ONE)
#define LEAST_WINDOW	    (2 * ONE)
#define FIRST_WINDOW	    (10 * ONE) /* RFC 6928 */
#define RTT_MIN_US	    10000000
#define STEADY_ROUNDS	    3
#define RTT_MAX_ROUNDS	    4
#define NEARLY_EMPTY_ROUNDS 5
#define LARGEST_VELOCITY    65536

char LICENSE[] SEC("license") = "GPL";

struct copa {
	__u64 window;		  /* packets, times ONE */
	__u64 window_before;	  /* a round trip ago */
	__u64 before_timeout;	  /* the window; 0: there was none in this episode of losses */
	struct windowed least;	  /* RTTmin, µs */
	struct windowed standing; /* RTTstanding */
	struct windowed largest;  /* RTTmax */
	__u32 round_ends;	  /* once so many packets are delivered */
	__u32 inverse_delta;	  /* 1/δ, times ONE */
	__u32 velocity;
	__u32 rounds_not_empty;
	__u32 total_lost; /* at the last ACK; timers mark losses too, between ACKs */
	__u8 rounds_steady;
	__u8 ca_state;
	__u8 slow_start : 1, upwards : 1, measured : 1, lost : 1, emptied : 1, limited : 1;
	__u8 slow_start_before : 1; /* the timeout */
};
_Static_assert(sizeof(struct copa) <= ICSK_CA_PRIV_SIZE, "the private area is too small");

static __always_inline void start(struct copa *copa, __u64 window)
{
	copa->window = copa->window_before = window;
	copa->velocity = 1;
	copa->rounds_steady = 0;
	copa->slow_start = 1;
}

static __always_inline void apply(struct sock *sk, struct copa *copa, __u32 standing_us)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u32 cwnd = copa->window / ONE;

	tp->snd_cwnd = cwnd < tp->snd_cwnd_clamp ? cwnd : tp->snd_cwnd_clamp;
	if (standing_us)
		sk->sk_pacing_rate = 2 * (__u64)cwnd * tp->mss_cache * 1000000 / standing_us;
}

/* Once a round trip: the velocity, by the way that the window went. */
static __always_inline void turn_velocity(struct copa *copa)
{
	bool upwards = copa->window > copa->window_before;

	if (upwards != copa->upwards) {
		copa->upwards = upwards;
		copa->rounds_steady = 0;
		copa->velocity = 1;
	} else if (++copa->rounds_steady >= STEADY_ROUNDS) {
		copa->rounds_steady = STEADY_ROUNDS;
		if (copa->velocity < LARGEST_VELOCITY)
			copa->velocity *= 2;
	}
	copa->window_before = copa->window;
}

/* Once a round trip: δ, by whether the queue gets empty, and by losses. */
static __always_inline void turn_mode(struct copa *copa)
{
	if (copa->emptied)
		copa->rounds_not_empty = 0;
	else
		copa->rounds_not_empty++;
	if (!COMPETE || copa->rounds_not_empty < NEARLY_EMPTY_ROUNDS)
		copa->inverse_delta = INVERSE_DELTA;
	else if (copa->lost)
		copa->inverse_delta /= 2;
	else if (copa->inverse_delta < LARGEST_INVERSE)
		copa->inverse_delta += ONE;
	if (copa->inverse_delta < INVERSE_DELTA)
		copa->inverse_delta = INVERSE_DELTA;
	copa->emptied = copa->lost = 0;
}

/* δ·dq·W is at most RTTstanding where the rate is at most 1/(δ·dq). */
static __always_inline bool is_slow(const struct copa *copa, __u32 standing_us, __u32 dq_us)
{
	return copa->window * dq_us <= (__u64)standing_us * copa->inverse_delta;
}

static __always_inline void move(struct copa *copa, bool slow, __u32 acked)
{
	__u64 most = (__u64)acked * ONE, step;

	if (copa->slow_start && slow) {
		copa->window += most;
		return;
	}
	copa->slow_start = 0;
	step = most * copa->velocity * copa->inverse_delta / copa->window;
	if (step > most)
		step = most; /* never faster than slow start */
	if (!slow)
		copa->window =
			copa->window > step + LEAST_WINDOW ? copa->window - step : LEAST_WINDOW;
	else
		copa->window += step;
	/* A turn within the round trip ends what velocity had built up. */
	if (slow != copa->upwards && copa->velocity > 1) {
		copa->velocity = 1;
		copa->rounds_steady = 0;
	}
}

SEC("struct_ops/copa_init")
void BPF_PROG(copa_init, struct sock *sk)
{
	struct copa *copa = private_area(sk);

	__builtin_memset(copa, 0, sizeof(*copa));
	copa->inverse_delta = INVERSE_DELTA;
	copa->emptied = 1;
	copa->total_lost = tcp_sk(sk)->lost;
	start(copa, FIRST_WINDOW);
	tcp_sk(sk)->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
}

SEC("struct_ops/copa_control")
void CONG_CONTROL(copa_control, struct sock *sk, const struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct copa *copa = private_area(sk);
	__u32 now = tp->tcp_mstamp, srtt_us = tp->srtt_us >> 3, rtt_us = rs->rtt_us;
	__u32 least_us, standing_us, largest_us;

	if (tp->lost != copa->total_lost)
		copa->lost = 1;
	copa->total_lost = tp->lost;
	if (is_cwnd_limited(tp))
		copa->limited = 1;
	if (rs->rtt_us <= 0 || !srtt_us)
		return;
	if (!copa->measured) {
		copa->measured = 1;
		windowed_start(&copa->least, now, rtt_us);
		windowed_start(&copa->standing, now, rtt_us);
		windowed_start(&copa->largest, now, rtt_us);
	}
	least_us = windowed_least(&copa->least, RTT_MIN_US / 2, now, rtt_us);
	standing_us = windowed_least(&copa->standing, srtt_us / 4, now, rtt_us);
	largest_us = windowed_largest(&copa->largest, RTT_MAX_ROUNDS * srtt_us / 2, now, rtt_us);
	if (standing_us < least_us)
		standing_us = least_us;
	if ((standing_us - least_us) * 10 <= largest_us - least_us)
		copa->emptied = 1;
	if (rs->prior_delivered - copa->round_ends < 0x80000000) {
		copa->round_ends = tp->delivered;
		if (!copa->slow_start)
			turn_velocity(copa);
		turn_mode(copa);
		copa->limited = is_cwnd_limited(tp);
	}
	if (copa->limited && copa->window < LARGEST_WINDOW)
		move(copa, is_slow(copa, standing_us, standing_us - least_us), rs->acked_sacked);
	apply(sk, copa, standing_us);
}

SEC("struct_ops/copa_set_state")
void BPF_PROG(copa_set_state, struct sock *sk, __u8 state)
{
	struct copa *copa = private_area(sk);

	if (state == TCP_CA_Loss && copa->ca_state != TCP_CA_Loss) {
		copa->before_timeout = copa->window;
		copa->slow_start_before = copa->slow_start;
		start(copa, LEAST_WINDOW);
	}
	copa->ca_state = state;
}

/* Where an episode of losses begins, which the kernel undoes as a whole, or not. */
SEC("struct_ops/copa_ssthresh")
__u32 BPF_PROG(copa_ssthresh, struct sock *sk)
{
	struct copa *copa = private_area(sk);

	copa->before_timeout = 0;
	return tcp_sk(sk)->snd_ssthresh; /* not used */
}

/* Nothing was lost: W from before the timeout, and no loss for the mode of competition. */
SEC("struct_ops/copa_undo_cwnd")
__u32 BPF_PROG(copa_undo_cwnd, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct copa *copa = private_area(sk);

	copa->lost = 0;
	copa->total_lost = tp->lost;
	if (copa->before_timeout > copa->window) {
		start(copa, copa->before_timeout);
		copa->slow_start = copa->slow_start_before;
	}
	copa->before_timeout = 0;
	return copa->window / ONE;
}

SEC(".struct_ops")
struct tcp_congestion_ops copa = {
	.init = (void *)copa_init,
	.cong_control = (void *)copa_control,
	.set_state = (void *)copa_set_state,
	.ssthresh = (void *)copa_ssthresh,
	.undo_cwnd = (void *)copa_undo_cwnd,
	.name = "copa",
};
