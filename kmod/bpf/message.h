/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef REMINIS_MESSAGE_H
#define REMINIS_MESSAGE_H

/* Prints one line to stderr. Returns 1, the exit code of a failure. */
int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
