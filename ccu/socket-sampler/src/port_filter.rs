// SPDX-License-Identifier: Apache-2.0
//! The filter by local or remote port, as the bytecode that inet_diag runs in the kernel, so that other
//! sockets are not copied to the program.

use anyhow::{Result, ensure};

const JMP: u8 = 1;
const SOURCE_PORT_EQUALS: u8 = 11; // INET_DIAG_BC_S_EQ, since Linux 4.16
const DESTINATION_PORT_EQUALS: u8 = 12;
const OPERATION_BYTES: u16 = 4;
const COMPARISON_BYTES: u16 = 2 * OPERATION_BYTES; // the second one's `no` field holds the port
const STEP_BYTES: u16 = COMPARISON_BYTES + OPERATION_BYTES;
/// Jump distances have 16 bits, and each port takes two steps.
const MOST_PORTS: usize = 1000;

/// Returns the bytecode; empty without ports, which accepts all sockets.
///
/// The code is a sequence of steps "if equal, jump to the end". A jump exactly to the end accepts, one
/// operation beyond it refuses (`inet_diag_bc_run`).
pub fn port_filter(ports: &[u16]) -> Result<Vec<u8>> {
    ensure!(
        ports.len() <= MOST_PORTS,
        "{} ports given, at most {MOST_PORTS} can be filtered",
        ports.len()
    );
    let comparisons = ports
        .iter()
        .flat_map(|&port| [(SOURCE_PORT_EQUALS, port), (DESTINATION_PORT_EQUALS, port)]);
    let mut left = 2 * ports.len() as u16;
    let mut code = Vec::with_capacity(usize::from(left * STEP_BYTES));
    for (comparison, port) in comparisons {
        left -= 1;
        let to_end = left * STEP_BYTES;
        let otherwise = if left > 0 {
            STEP_BYTES
        } else {
            STEP_BYTES + OPERATION_BYTES
        };
        operation(&mut code, comparison, COMPARISON_BYTES, otherwise);
        operation(&mut code, 0, 0, port);
        operation(&mut code, JMP, OPERATION_BYTES, OPERATION_BYTES + to_end);
    }
    Ok(code)
}

fn operation(code: &mut Vec<u8>, kind: u8, yes: u16, no: u16) {
    code.push(kind);
    code.push(yes as u8);
    code.extend(no.to_ne_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Executes the three operations used here as `inet_diag_bc_run` of the kernel does.
    fn accepts(mut code: &[u8], source: u16, destination: u16) -> bool {
        while !code.is_empty() {
            let no = usize::from(u16::from_ne_bytes([code[2], code[3]]));
            let equal = |port| u16::from_ne_bytes([code[6], code[7]]) == port;
            let yes = match code[0] {
                SOURCE_PORT_EQUALS => equal(source),
                DESTINATION_PORT_EQUALS => equal(destination),
                _ => false,
            };
            let jump = if yes { usize::from(code[1]) } else { no };
            if jump > code.len() {
                return false;
            }
            code = &code[jump..];
        }
        true
    }

    #[test]
    fn a_port_at_either_end_passes_and_no_other() {
        let code = port_filter(&[5201, 5202]).unwrap();
        assert!(accepts(&code, 5201, 40000) && accepts(&code, 40000, 5202));
        assert!(!accepts(&code, 40000, 443) && !accepts(&code, 5203, 5200));
    }

    #[test]
    fn no_ports_pass_everything_and_too_many_are_refused() {
        assert!(port_filter(&[]).unwrap().is_empty());
        assert!(port_filter(&[1; MOST_PORTS + 1]).is_err());
    }
}
