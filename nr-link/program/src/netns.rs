// SPDX-License-Identifier: Apache-2.0
//! Network namespaces: making one, doing something inside another.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, bail};
use nix::errno::Errno;
use nix::sched::{CloneFlags, setns, unshare};

/// Where `ip netns` keeps its names.
const NAMES: &str = "/run/netns";

/// Where a device is, or is made.
#[derive(Debug, Clone, Copy)]
pub enum Place<'a> {
    /// Where we are.
    Here,
    /// In the namespace that `ip netns` calls so.
    Named(&'a str),
    /// In one that we made.
    Made(&'a Namespace),
}

impl<'a> Place<'a> {
    /// By the name that a configuration may give.
    pub fn of(name: Option<&'a str>) -> Self {
        name.map_or(Self::Here, Self::Named)
    }

    /// Its `ip netns` name.
    pub fn name(self) -> Option<&'a str> {
        match self {
            Self::Named(name) => Some(name),
            Self::Here | Self::Made(_) => None,
        }
    }

    /// Runs `action` there.
    ///
    /// What `action` opens stays bound to that namespace; this thread comes back.
    pub fn inside<T>(self, action: impl FnOnce() -> Result<T>) -> Result<T> {
        match self {
            Self::Here => action(),
            Self::Named(name) => enter(&named(name)?, &format!("network namespace {name}"), action),
            Self::Made(Namespace(there)) => enter(there, "our network namespace", action),
        }
    }
}

/// A network namespace without a name. It is gone when nothing is in it and nobody holds this.
#[derive(Debug)]
pub struct Namespace(File);

impl Namespace {
    /// A new one; its loopback is still down. This thread stays where it is.
    pub fn create() -> Result<Self> {
        let before = current()?;
        unshare(CloneFlags::CLONE_NEWNET).context(
            "a network namespace needs CAP_SYS_ADMIN; run nr-link as root, or let users make user namespaces",
        )?;
        let made = current()?;
        setns(&before, CloneFlags::CLONE_NEWNET).context(RETURNING)?;
        Ok(Self(made))
    }

    /// The same namespace, held once more.
    pub fn try_clone(&self) -> Result<Self> {
        let held = self.0.try_clone();
        held.map(Self).context("holding a network namespace")
    }

    /// For the child of a fork: enters for good. Calls the kernel and nothing else.
    pub fn enter(&self) -> nix::Result<()> {
        setns(&self.0, CloneFlags::CLONE_NEWNET)
    }
}

const RETURNING: &str = "returning to the first network namespace";

fn current() -> Result<File> {
    File::open("/proc/thread-self/ns/net").context("opening the network namespace")
}

fn named(name: &str) -> Result<File> {
    let path = Path::new(NAMES).join(name);
    match File::open(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            bail!("there is no network namespace {name}; make it with `ip netns add {name}`")
        }
        other => other.with_context(|| format!("cannot open {}", path.display())),
    }
}

fn enter<T>(there: &File, what: &str, action: impl FnOnce() -> Result<T>) -> Result<T> {
    let here = current()?;
    match setns(there, CloneFlags::CLONE_NEWNET) {
        Err(Errno::EPERM) => bail!("entering {what} needs CAP_SYS_ADMIN; run nr-link as root"),
        other => other.with_context(|| format!("cannot enter {what}"))?,
    }
    let result = action();
    setns(&here, CloneFlags::CLONE_NEWNET).context(RETURNING)?;
    result
}
