// SPDX-License-Identifier: Apache-2.0
//! The tests of the program and its library in one program.

mod command_line;
mod link;
mod ping;
mod segmentation;
mod shell;
mod testbed;
