// SPDX-License-Identifier: Apache-2.0
//! Doing something inside another network namespace.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, bail};
use nix::errno::Errno;
use nix::sched::{CloneFlags, setns};

/// Where `ip netns` keeps its names.
const NAMES: &str = "/run/netns";

/// Runs `action` in the namespace that `ip netns` calls `name`; none: where we are.
///
/// What `action` opens stays bound to that namespace; this thread comes back.
pub fn inside<T>(name: Option<&str>, action: impl FnOnce() -> Result<T>) -> Result<T> {
    let Some(name) = name else { return action() };
    let here = File::open("/proc/thread-self/ns/net").context("opening the network namespace")?;
    let path = Path::new(NAMES).join(name);
    let there = match File::open(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            bail!("there is no network namespace {name}; make it with `ip netns add {name}`")
        }
        other => other.with_context(|| format!("cannot open {}", path.display()))?,
    };
    match setns(&there, CloneFlags::CLONE_NEWNET) {
        Err(Errno::EPERM) => {
            bail!("entering network namespace {name} needs CAP_SYS_ADMIN; run nr-link as root")
        }
        other => other.with_context(|| format!("cannot enter network namespace {name}"))?,
    }
    let result = action();
    setns(&here, CloneFlags::CLONE_NEWNET).context("returning to the first network namespace")?;
    result
}
