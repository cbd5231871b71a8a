// SPDX-License-Identifier: GPL-2.0-only
#include <signal.h>
#include <unistd.h>
#include "lifetime.h"

static pid_t parent;
static volatile sig_atomic_t stopping;

static void on_signal(int signal)
{
	stopping = signal;
}

void lifetime_begin(void)
{
	struct sigaction stop = {.sa_handler = on_signal};

	parent = getppid();
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGHUP, &stop, NULL);
}

bool lifetime_is_over(void)
{
	return stopping || getppid() != parent;
}
