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
    /// As the environment names them.
    pub fn of_environment() -> Self {
        let named = |variable| std::env::var_os(variable).map(PathBuf::from);
        Self {
            kernel: named("NR_LINK_KERNEL"),
            library: named("NR_LINK_VIRTUAL_LIBRARY"),
            guest: named("NR_LINK_GUEST"),
        }
    }

    /// Looks for all of them.
    pub fn find(&self) -> Result<Found> {
        let own = std::env::current_exe().context("/proc/self/exe")?;
        let folder = own.parent().unwrap_or(Path::new("/"));
        // Of .venv/bin/ and target/release/ alike.
        let tools = folder.join("../../.tools/virtual-kernel/linux");
        let build = "Run make kernel (setup/virtual-kernel, 5 to 12 minutes of CPU, once)";
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
    if named.is_none() && !path.exists() {
        return Err(failed(format!(
            "the {option} of the virtual testbed is not built. {build}, or name one with --{option}."
        )));
    }
    path.canonicalize().map_err(|error| {
        failed(format!(
            "{}: the {option} of the virtual testbed cannot be used ({error}). {build}, or name it with --{option}.",
            path.display()
        ))
    })
}
