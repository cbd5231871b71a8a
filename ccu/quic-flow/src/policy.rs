// SPDX-License-Identifier: Apache-2.0
//! The program of a policy: ccplane, which gets reports by one pipe and answers with commands by another.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::process::{Child, Command as Program, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::unistd::pipe;
use serde_json::Value;

use crate::clock::Clock;
use crate::plane::Plane;
use crate::records::{COMMAND_BYTES, Command};

/// A policy that runs.
pub struct Policy {
    program: Child,
    commands: File,
    plane: Plane,
    is_there: bool,
}

impl Policy {
    /// Starts a policy's program, whose words get the descriptors of both pipes as the last, and waits until it is ready.
    ///
    /// # Errors
    /// The program cannot be started, or says why the policy cannot run.
    pub fn start(
        words: &[String],
        clock: &Clock,
        here: SocketAddr,
        peer: SocketAddr,
    ) -> Result<Self> {
        let (reports_read, reports_write) = pipe()?; // both are the program's as well
        let (commands_read, commands_write) = pipe()?;
        for own in [&reports_write, &commands_read] {
            leave_out_of_programs(own)?;
        }
        let mut program = Program::new(&words[0])
            .args(&words[1..])
            .arg("--pipes")
            .arg(reports_read.as_raw_fd().to_string())
            .arg(commands_write.as_raw_fd().to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| words[0].clone())?;
        drop((reports_read, commands_write));
        let mut said = String::new();
        BufReader::new(program.stdout.take().context("no output")?).read_line(&mut said)?;
        let answer: Value = serde_json::from_str(&said).unwrap_or_default();
        if answer["event"] != "ready" {
            let _ = program.wait();
            let rule = answer["rule"]
                .as_str()
                .unwrap_or("ended before it was ready");
            let fix = answer["fix"].as_str().unwrap_or("Look at the log");
            bail!("the policy: {rule}. {fix}");
        }
        Ok(Self {
            program,
            commands: commands_read.into(),
            plane: Plane::new(reports_write.into(), clock, here, peer),
            is_there: true,
        })
    }

    /// The plane that it controls.
    pub fn plane(&self) -> &Plane {
        &self.plane
    }

    /// The descriptor by which commands come, while the program is there.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.is_there.then(|| self.commands.as_fd())
    }

    /// Has the flow obey the commands that have come.
    pub fn obey(&mut self, now: Instant) {
        let mut command = [0; COMMAND_BYTES];
        while self.is_there {
            match self.commands.read(&mut command) {
                Ok(COMMAND_BYTES) => self.plane.obey(Command::of(&command), now),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                _ => {
                    self.is_there = false;
                    self.plane.abandon(now);
                }
            }
        }
    }

    /// Reports that the flow ended, and waits until the policy's program has ended as well.
    pub fn end(&mut self, now: Instant) {
        self.plane.end(now);
        let _ = self.program.wait();
    }
}

/// Keeps a pipe's own end from a program, and from blocking.
fn leave_out_of_programs(own: &OwnedFd) -> Result<()> {
    fcntl(own, FcntlArg::F_SETFD(nix::fcntl::FdFlag::FD_CLOEXEC))?;
    fcntl(own, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    Ok(())
}
