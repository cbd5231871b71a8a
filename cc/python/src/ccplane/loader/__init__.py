# SPDX-License-Identifier: Apache-2.0
"""The loader of BPF congestion controls: into the kernel, with their constants and maps, and out of
it again.

It needs libbpf 1 and the standard library only.
"""
