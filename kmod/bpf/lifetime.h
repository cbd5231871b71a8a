/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lifetime of a command: until SIGTERM, SIGINT or SIGHUP, or until its parent process ends.
 *
 * The parent is polled, because PR_SET_PDEATHSIG would send its signal already when the thread that
 * started this process ends.
 */
#ifndef REMINIS_LIFETIME_H
#define REMINIS_LIFETIME_H

#include <stdbool.h>

void lifetime_begin(void); /* call it first: a parent that ends before is not noticed */
bool lifetime_is_over(void);

#endif
