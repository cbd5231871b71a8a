// SPDX-License-Identifier: GPL-2.0-only
/*
 * The half that is compiled against the host's C library: it opens the model's
 * library in the kernel's own process, and is the kernel's source of
 * randomness, so that a seed repeats a run.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/types.h>
#include <unistd.h>

#include "nr_link.h"

static uint64_t random_state;

/*
 * Takes the place of the C library's: the kernel asks for nothing else of the
 * host that differs from run to run. xorshift64 (Marsaglia, 2003); what the
 * kernel makes of it goes through its own generator.
 */
ssize_t getrandom(void *buffer, size_t length, unsigned int flags)
{
	unsigned char *bytes = buffer;
	const char *seed;
	size_t i;

	(void)flags;
	if (!random_state) {
		seed = getenv("NR_LINK_SEED");
		random_state = (seed ? strtoull(seed, NULL, 10) : 1) * 0x9e3779b97f4a7c15ull | 1;
	}
	for (i = 0; i < length; i++) {
		random_state ^= random_state << 13;
		random_state ^= random_state >> 7;
		random_state ^= random_state << 17;
		bytes[i] = random_state >> 32;
	}
	return length;
}

const struct nr_link_calls *nr_link_load(void)
{
	const struct nr_link_calls *(*calls_of)(void);
	const char *path = getenv("NR_LINK_LIBRARY");
	const struct nr_link_calls *calls;
	void *library;

	if (!path) {
		fprintf(stderr, "nr-link: NR_LINK_LIBRARY is not set. Start this kernel by "
				"nr-link virtual run.\n");
		return NULL;
	}
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		fprintf(stderr, "nr-link: %s\n", dlerror());
		return NULL;
	}
	*(void **)&calls_of = dlsym(library, "nr_link_calls");
	calls = calls_of ? calls_of() : NULL;
	if (!calls || calls->abi != NR_LINK_ABI) {
		fprintf(stderr,
			"nr-link: the kernel of the virtual testbed and %s are of different "
			"versions. "
			"Run setup/virtual-kernel again.\n",
			path);
		return NULL;
	}
	return calls;
}

/* Without the kernel's own tidying: nothing is left to tidy, and it would complain of that. */
void nr_link_exit(int code)
{
	fflush(NULL);
	_exit(code);
}
