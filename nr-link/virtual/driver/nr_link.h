/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interface between this driver and the library that holds the model of
 * the link. The library is a file of the host: the kernel's own process opens
 * it, so that another model needs no other kernel. ../library/src/interface.rs
 * has the same types; a change of either side needs another NR_LINK_ABI.
 *
 * All calls come from one thread, with interrupts off. Times are nanoseconds
 * since the link began (start()).
 */
#ifndef NR_LINK_H
#define NR_LINK_H

#include "nr_link_trace.h"

#define NR_LINK_ABI 3

/* Device 0 is the core network's, device n that of UE n. */
#define NR_LINK_DEVICES_MAX 65

struct nr_link;

struct nr_link_setup {
	unsigned int devices;
	unsigned int mtu_bytes;
	/* of each packet, which enqueue() and delivered() get at most */
	unsigned int kept_bytes;
	/* the devices of the hosts whose TCP sockets are sampled, by number */
	unsigned int sampled_hosts;
	const unsigned int *sampled_devices;
	/* only sockets with one of these ports; none: all */
	unsigned int ports_length;
	const unsigned short *ports;
	unsigned long long socket_interval_ns;
	/* packets that are due within this time of a delivery wait for the next; 0: none does */
	unsigned long long moderation_ns;
	/* how far the clock moves when a process reads it */
	unsigned long long clock_step_ns;
	/* for the guest's first program: /proc/nr-link/plan */
	const char *guest_plan;
	unsigned long long guest_plan_length;
};

struct nr_link_due {
	unsigned long long handle;
	unsigned int device;
	unsigned int congestion_experienced;
};

struct nr_link_calls {
	unsigned int abi;
	/*
	 * NULL: the library has said on stderr why not. lost(): the link dropped the packet.
	 * traces: those of the kernel's congestion controls.
	 */
	struct nr_link *(*open)(struct nr_link_setup *setup, void (*lost)(unsigned long long),
				const struct nr_link_trace *traces);
	void (*start)(struct nr_link *link, long long utc_ns);
	/* 0: no UE has the packet's destination, and the caller keeps it. */
	int (*enqueue)(struct nr_link *link, unsigned int device, unsigned long long handle,
		       const void *head, unsigned int kept, unsigned int length,
		       unsigned long long now);
	/* Runs the link to now; returns when to call again. */
	unsigned long long (*advance)(struct nr_link *link, unsigned long long now);
	unsigned long long (*next_event)(struct nr_link *link);
	int (*dequeue)(struct nr_link *link, struct nr_link_due *due);
	/* For the captures only. */
	void (*delivered)(struct nr_link *link, unsigned int device, const void *head,
			  unsigned int kept, unsigned int length, unsigned long long now);
	void (*sockets)(struct nr_link *link, unsigned int host, const void *messages,
			unsigned int length, unsigned long long now);
	/* A row of a trace. */
	void (*traced)(struct nr_link *link, unsigned int trace, const long long *values,
		       unsigned long long now);
	/* A line of the guest's first program for the launcher. */
	void (*report)(struct nr_link *link, const void *text, unsigned long long length);
	/*
	 * The launcher's standard input, output (1) and error (2). Time stands still while the host
	 * waits. Return a number of bytes, 0 at the end of the input, or -errno.
	 */
	long long (*input)(struct nr_link *link, void *buffer, unsigned long long length);
	long long (*output)(struct nr_link *link, unsigned int stream, const void *text,
			    unsigned long long length);
	void (*close)(struct nr_link *link, unsigned long long now);
};

/* host_user.c */
const struct nr_link_calls *nr_link_load(void);
void nr_link_exit(int code) __attribute__((noreturn));

/* devices.c */
extern const struct nr_link_calls *nr_link_calls;
extern struct nr_link_setup nr_link_setup;
extern struct nr_link *nr_link;
unsigned long long nr_link_now(void);

/* trace.c */
extern const struct nr_link_trace *nr_link_traces;

#ifdef __KERNEL__
struct net_device;
int nr_link_device_add(unsigned int number);		/* in the caller's network namespace */
struct net_device *nr_link_device(unsigned int number); /* or NULL */

/* proc_files.c */
int nr_link_proc_files_init(void);

/* plane.c */
struct proc_dir_entry;
int nr_link_planes_init(struct proc_dir_entry *folder);

/* sockets.c */
int nr_link_sockets_init(void);
void nr_link_sockets_start(unsigned long long start_ns);
void nr_link_sockets_stop(void);

#endif

#endif
