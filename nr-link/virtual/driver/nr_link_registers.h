/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The floating-point registers of a program, up to 11 KB, stay in the host's
 * process that runs it. User Mode Linux fetched them at each system call and
 * gave them back after it, which was a tenth of the time of programs with many.
 *
 * They are fetched where the kernel reads or replaces them (a fork, a signal),
 * before another thread of the program runs in that process, and before the
 * kernel's own code does (to map memory).
 *
 * setup/virtual-kernel copies this file to arch/um/include/shared and lets User
 * Mode Linux call these functions.
 */
#ifndef NR_LINK_REGISTERS_H
#define NR_LINK_REGISTERS_H

#include <mm_id.h>
#include <registers.h>

/* Fetches the registers in the process of `id` for their thread, if they stayed there. */
static inline int nr_link_fetch_registers(struct mm_id *id)
{
	unsigned long *owner = id->registers_of;

	id->registers_of = 0;
	return owner ? get_fp_registers(id->pid, owner) : 0;
}

/* Gives the process of `id` these registers of a thread, if they are not in it. */
static inline int nr_link_give_registers(struct mm_id *id, unsigned long *registers)
{
	int error;

	if (id->registers_of == registers)
		return 0;
	error = nr_link_fetch_registers(id);
	if (error)
		return error;
	id->registers_of = registers;
	return put_fp_registers(id->pid, registers);
}

/* Forgets the registers of a thread that ends, or that another program replaces. A kernel thread has no process. */
static inline void nr_link_forget_registers(struct mm_id *id, unsigned long *registers)
{
	if (id && id->registers_of == registers)
		id->registers_of = 0;
}

#endif
