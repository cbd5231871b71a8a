// SPDX-License-Identifier: Apache-2.0
//! Network namespaces: making them, and running code in them.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, bail};
use nix::errno::Errno;
use nix::sched::{CloneFlags, setns, unshare};

/// The folder where `ip netns` keeps its names.
const NAMES: &str = "/run/netns";

/// The network namespace of a device.
#[derive(Debug, Clone, Copy)]
pub enum NamespaceRef<'a> {
    /// The current namespace.
    Current,
    /// The namespace with this `ip netns` name.
    Named(&'a str),
    /// A namespace that this process made.
    Owned(&'a Namespace),
}

impl<'a> NamespaceRef<'a> {
    /// Makes a reference from the optional name in a configuration.
    pub fn of(name: Option<&'a str>) -> Self {
        name.map_or(Self::Current, Self::Named)
    }

    /// Returns the `ip netns` name.
    pub fn name(self) -> Option<&'a str> {
        match self {
            Self::Named(name) => Some(name),
            Self::Current | Self::Owned(_) => None,
        }
    }

    /// Runs `action` in the namespace and returns to the current one. Devices and sockets that
    /// `action` opens stay in that namespace.
    pub fn inside<T>(self, action: impl FnOnce() -> Result<T>) -> Result<T> {
        match self {
            Self::Current => action(),
            Self::Named(name) => enter(&named(name)?, &format!("network namespace {name}"), action),
            Self::Owned(Namespace(there)) => enter(there, "our network namespace", action),
        }
    }
}

/// A network namespace without a name. It exists as long as this object or a process in it.
#[derive(Debug)]
pub struct Namespace(File);

impl Namespace {
    /// Creates a namespace, whose loopback is down. The thread stays in its own.
    pub fn create() -> Result<Self> {
        let before = current()?;
        unshare(CloneFlags::CLONE_NEWNET).context(
            "a network namespace needs CAP_SYS_ADMIN; run nr-link as root, or let users make user namespaces",
        )?;
        let made = current()?;
        setns(&before, CloneFlags::CLONE_NEWNET).context(RETURNING)?;
        Ok(Self(made))
    }

    /// Makes another reference to the same namespace.
    pub fn try_clone(&self) -> Result<Self> {
        let held = self.0.try_clone();
        held.map(Self).context("holding a network namespace")
    }

    /// Moves the calling process into the namespace, for the child of a fork. Makes only a system
    /// call.
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
