// SPDX-License-Identifier: Apache-2.0
//! The files that make up the virtual testbed besides this program.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;

use crate::failed;

/// Where they are, if not in the usual places.
#[derive(Debug, Args)]
pub struct Parts {
    /// The kernel (default: .tools/virtual-kernel/linux of the source tree)
    #[arg(long, env = "NR_LINK_KERNEL")]
    kernel: Option<PathBuf>,
    /// The library with the model (default: beside this program)
    #[arg(long, env = "NR_LINK_VIRTUAL_LIBRARY")]
    library: Option<PathBuf>,
    /// The guest's first program (default: beside this program)
    #[arg(long, env = "NR_LINK_GUEST")]
    guest: Option<PathBuf>,
}

/// The files, found.
#[derive(Debug)]
pub struct Found {
    /// The kernel.
    pub kernel: PathBuf,
    /// The library with the model.
    pub library: PathBuf,
    /// The guest's first program.
    pub guest: PathBuf,
}

impl Parts {
    /// Looks for all of them.
    pub fn find(&self) -> Result<Found> {
        let own = std::env::current_exe().context("/proc/self/exe")?;
        let folder = own.parent().unwrap_or(Path::new("/"));
        // Of .venv/bin/ and target/release/ alike.
        let tools = folder.join("../../.tools/virtual-kernel/linux");
        let build = "Build it with setup/virtual-kernel (a few minutes, once)";
        Ok(Found {
            kernel: found("kernel", self.kernel.as_deref(), &tools, build)?,
            library: found(
                "library",
                self.library.as_deref(),
                &folder.join("libnr_link_virtual.so"),
                "Run make build",
            )?,
            guest: found(
                "guest",
                self.guest.as_deref(),
                &folder.join("nr-link-guest"),
                "Run make build",
            )?,
        })
    }
}

fn found(option: &str, named: Option<&Path>, usual: &Path, build: &str) -> Result<PathBuf> {
    let path = named.unwrap_or(usual);
    path.canonicalize().map_err(|error| {
        failed(format!(
            "{}: the {option} of the virtual testbed cannot be used ({error}). {build}, or name it with --{option}.",
            path.display()
        ))
    })
}
