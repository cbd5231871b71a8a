// SPDX-License-Identifier: Apache-2.0
#![no_main]

libfuzzer_sys::fuzz_target!(|content: &[u8]| ddu_packets_fuzz::sockets(content));
