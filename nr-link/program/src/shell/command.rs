// SPDX-License-Identifier: Apache-2.0
//! The program of the user's command: found before the link is made, as a shell would find it.

use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};
use nr_link_model::{Problem, Violation};

/// Codes of a shell (POSIX, Shell Command Language, 2.8.2).
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;

/// Returns what is wrong with the program, and the exit code for it.
pub fn refused(program: &str) -> Option<(Problem, u8)> {
    let found = candidates(program)
        .into_iter()
        .filter(|path| path.is_file())
        .collect::<Vec<_>>();
    let (what, fix, code) = if found.is_empty() {
        let what = match program.contains('/') {
            true => "no such file",
            false => "is not a program on PATH",
        };
        (what, "Install it, or name its path", NOT_FOUND)
    } else if !found.iter().any(|path| executable(path)) {
        let fix = "Run chmod +x, or name the program that reads it";
        ("is not executable", fix, NOT_EXECUTABLE)
    } else {
        return None;
    };
    let rule = format!("{program}: {what}");
    Some((Violation::new(rule, fix).at_key("command"), code))
}

/// The files that it may be, in order.
fn candidates(program: &str) -> Vec<PathBuf> {
    if program.contains('/') {
        return vec![PathBuf::from(program)];
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .collect()
}

fn executable(path: &Path) -> bool {
    access(path, AccessFlags::X_OK).is_ok()
}
