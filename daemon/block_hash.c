/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block_hash.c: 16 bytes a step by a 64 x 64 to 128 bit multiplication (the
 * construction of wyhash), two lanes so that the multiplier is never idle.
 */
#include "block_hash.h"

#include <string.h>
#include <sys/random.h>

#include "lib/clock.h"

static uint64_t seeds[4];

static void seed(void)
{
	if (getrandom(seeds, sizeof(seeds), 0) != (ssize_t)sizeof(seeds)) {
		/* Without getrandom (a seccomp filter): what an outsider cannot read. */
		seeds[0] = rtail_now_ns() ^ (uint64_t)(uintptr_t)&seed;
		seeds[1] = (uint64_t)(uintptr_t)seeds * 0x9e3779b97f4a7c15u;
		seeds[2] = rtail_now_ns() * 0xd6e8feb86659fd93u;
		seeds[3] = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	}
	/* Odd: a zero factor would swallow its block. */
	for (unsigned i = 0; i < 4; i++)
		seeds[i] |= 1;
}

static inline uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t load(const char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

uint64_t block_hash(const char *data, size_t len)
{
	char tail[32] = { 0 };
	uint64_t one, two;
	size_t left = len;

	if (__builtin_expect(seeds[0] == 0, 0))
		seed();
	one = seeds[0] ^ len;
	two = seeds[1];
	for (; left >= 32; left -= 32, data += 32) {
		one = mix(load(data) ^ seeds[2], load(data + 8) ^ one);
		two = mix(load(data + 16) ^ seeds[3], load(data + 24) ^ two);
	}
	if (left > 0) {
		memcpy(tail, data, left);
		one = mix(load(tail) ^ seeds[2], load(tail + 8) ^ one);
		two = mix(load(tail + 16) ^ seeds[3], load(tail + 24) ^ two);
	}
	one = mix(one ^ seeds[1], two ^ seeds[3]);
	return one != 0 ? one : 1;
}
