/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long a command lives: until SIGTERM, SIGINT or SIGHUP, or until its parent is gone.
 *
 * The parent is watched rather than asked for a signal (PR_SET_PDEATHSIG), which would come already
 * when the thread that started us ends.
 */
#ifndef REMINIS_LIFETIME_H
#define REMINIS_LIFETIME_H

#include <stdbool.h>

void lifetime_begin(void); /* first thing: a parent that ends before goes unnoticed */
bool lifetime_is_over(void);

#endif
