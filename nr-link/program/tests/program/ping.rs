// SPDX-License-Identifier: Apache-2.0
//! The output of `ping -q`.

/// Returns the least round trip, of "rtt min/avg/max/mdev = 22.1/…".
pub fn least_rtt_ms(output: &str) -> f64 {
    let figures = output.rsplit("mdev = ").next().unwrap();
    figures.split('/').next().unwrap().parse().expect(output)
}

/// Returns the number of answers, of "21 packets transmitted, 20 received". With `-w` it may be
/// more than `-c`, which ping then waits for: it goes on sending.
pub fn received_count(output: &str) -> u32 {
    let before = output.split(" received").next().unwrap();
    before.rsplit(' ').next().unwrap().parse().expect(output)
}
