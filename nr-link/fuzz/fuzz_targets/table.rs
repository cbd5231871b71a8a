// SPDX-License-Identifier: Apache-2.0
#![no_main]

libfuzzer_sys::fuzz_target!(|content: &[u8]| nr_link_fuzz::table(content));
