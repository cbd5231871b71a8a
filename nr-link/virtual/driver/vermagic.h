/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Copied over arch/um/include/asm/vermagic.h by setup/virtual-kernel: a module
 * says which kernel it was built for, and another kernel refuses it.
 */
#ifndef NR_LINK_VERMAGIC_H
#define NR_LINK_VERMAGIC_H

#define MODULE_ARCH_VERMAGIC "kernel-" CONFIG_NR_LINK_KEY " "

#endif
