/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The socket option with which an application chooses and reads its DTT.
 *
 *   uint32_t dtt_us = 30000;
 *   setsockopt(fd, IPPROTO_IP, REMINIS_DTT, &dtt_us, sizeof(dtt_us));
 *
 * IPPROTO_IPV6 on an IPv6 socket. The socket's congestion control must be
 * "reminis" by then. 0 returns to the DTT of the port or of the machine.
 * getsockopt() returns the DTT in force, or, before the first RTT sample, the
 * requested one. Errors: EINVAL (above 10 s, or not 4 bytes), ENOPROTOOPT
 * (another congestion control, or Reminis is not loaded).
 */
#ifndef REMINIS_UAPI_H
#define REMINIS_UAPI_H

#define REMINIS_DTT 21060 /* 0x5244, "RD"; above the options of netfilter's tables */

#endif
