/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fixed-point functions of the Reminis core: 2^x, the sigmoid, a Gaussian
 * quantile, a square root and a counter-based random word.
 *
 * Plain C with the type names of <stdint.h>, which the including file provides:
 * no kernel types, no floating point, no signed division (BPF refuses it), no
 * state. Numbers named _q24 have 24 fractional bits, and so on.
 *
 * Largest errors, measured over the whole range by tests/core/test_math.py:
 *   2^x      3.7e-6 relative
 *   sigmoid  1.0e-6 absolute
 *   Gaussian 2.0e-4 absolute, up to the largest value, |z| = 6.3
 */
#ifndef REMINIS_MATH_H
#define REMINIS_MATH_H

#ifndef reminis_inline
#define reminis_inline static inline
#endif

/* BPF verifies such a function once, separately, instead of on each path to it. */
#ifndef reminis_function
#define reminis_function static inline
#endif

#ifndef reminis_table
#define reminis_table static const
#endif

/* 32-bit kernels have no 64-bit division operator: they define their own. */
#ifndef reminis_div
#define reminis_div(dividend, divisor) ((uint64_t)(dividend) / (divisor))
#endif

#include "reminis_tables.h"

#define REMINIS_ONE_Q24	   (1 << 24)
#define REMINIS_ONE_Q30	   (1U << 30)
#define REMINIS_LOG2_E_Q24 24204406 /* 1 / ln 2 */

/* 2^x in Q30 for x in [-31, 1]; 0 below that range. */
reminis_function uint32_t reminis_exp2(int32_t x_q24)
{
	uint32_t fraction = x_q24 & 0xffffff;
	int32_t whole = x_q24 >> 24;
	uint32_t index = fraction >> 17;
	uint32_t low = reminis_exp2_q30[index];
	uint64_t rise = reminis_exp2_q30[index + 1] - low;
	uint32_t mantissa = low + (uint32_t)(rise * (fraction & 0x1ffff) >> 17);

	if (whole >= 1)
		return 2 * REMINIS_ONE_Q30;
	if (whole < -31)
		return 0;
	return mantissa >> -whole;
}

/* 1 / (1 + e^-x) in Q24, for |x| < 64; e^-|x| is 2^(-|x| log2 e). */
reminis_function int32_t reminis_sigmoid(int32_t x_q24)
{
	int64_t size_q24 = x_q24 < 0 ? -(int64_t)x_q24 : x_q24;
	int32_t exponent_q24 = -(int32_t)(size_q24 * REMINIS_LOG2_E_Q24 >> 24);
	uint64_t denominator_q30 = REMINIS_ONE_Q30 + reminis_exp2(exponent_q24);
	int32_t upper_q24 = reminis_div(1ULL << 54, denominator_q30);

	return x_q24 < 0 ? REMINIS_ONE_Q24 - upper_q24 : upper_q24;
}

/*
 * Returns all ones if value > limit, else 0, without a branch: BPF's verifier follows
 * every path, so that a branch in a loop doubles its work with each iteration.
 */
reminis_inline uint64_t reminis_above(uint64_t value, uint64_t limit)
{
	return (int64_t)(limit - value) >> 63;
}

/* Returns the position of the highest set bit; value > 0. */
reminis_inline uint32_t reminis_top_bit(uint32_t value)
{
	uint32_t bit = 0;

	for (uint32_t half = 16; half; half >>= 1) {
		uint32_t step = half & reminis_above(value >> bit, (1ULL << half) - 1);

		bit += step;
	}
	return bit;
}

/*
 * Converts a uniform random word to a standard normal value in Q24 by the inverse
 * of the distribution function. The highest bit is the sign; the others, m, give
 * the tail probability (m + 1/2) / 2^32, looked up by octave so that the tail is
 * as exact as the middle. The largest |z| is 6.3, with probability 2^-32.
 */
reminis_function int32_t reminis_gauss(uint32_t word)
{
	uint32_t tail = (word << 1) | 1; /* 2 m + 1, never 0 */
	uint32_t octave = reminis_top_bit(tail);
	uint32_t normal = tail << (31 - octave);
	uint32_t index = (octave * 16 + (normal >> 27 & 15)) & 511;
	uint32_t high = reminis_gauss_q24[index];
	uint64_t fall = high - reminis_gauss_q24[index + 1];
	uint32_t fraction_q27 = normal & 0x7ffffff;
	int32_t size = high - (uint32_t)(fall * fraction_q27 >> 27);

	return word >> 31 ? -size : size;
}

/* Square root of x in Q24, for 0 <= x < 64: bit by bit, without division. */
reminis_function uint32_t reminis_sqrt(uint32_t x_q24)
{
	uint64_t square_q48 = (uint64_t)x_q24 << 24;
	uint64_t root = 0;

	for (uint64_t bit = 1 << 27; bit; bit >>= 1) {
		uint64_t guess = root | bit;

		root |= bit & ~reminis_above(guess * guess, square_q48);
	}
	return root;
}

/* Mixes all bits of a word (the finalizer of MurmurHash3, in the public domain). */
reminis_inline uint32_t reminis_mix(uint32_t word)
{
	word = (word ^ word >> 16) * 0x85ebca6b;
	word = (word ^ word >> 13) * 0xc2b2ae35;
	return word ^ word >> 16;
}

/* Returns the n-th random word of a flow for a seed: repeatable and without state. */
reminis_function uint32_t reminis_random(uint32_t seed, uint32_t flow, uint32_t n)
{
	uint32_t stream = reminis_mix(seed ^ reminis_mix(flow + 0x9e3779b9));

	return reminis_mix(reminis_mix(stream + n * 0x9e3779b9) ^ stream);
}

#endif
