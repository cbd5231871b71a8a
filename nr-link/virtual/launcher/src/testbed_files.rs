// SPDX-License-Identifier: Apache-2.0
//! The files that make up the virtual testbed besides this program.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;

use crate::lacking;

const BUILD_KERNEL: &str =
    "Run make kernel (setup/virtual-kernel, 5 to 12 minutes of CPU, once) in the source tree";

/// The options that name a file which is not where it usually is.
#[derive(Debug, Args)]
pub struct FileOptions {
    /// The kernel (default: .tools/virtual-kernel/linux of the source tree, or lib/nr-link/linux beside this program's folder)
    #[arg(long, env = "CCU_KERNEL")]
    kernel: Option<PathBuf>,
    /// The library with the model (default: beside this program, or in lib/nr-link beside this program's folder)
    #[arg(long, env = "NR_LINK_VIRTUAL_LIBRARY")]
    library: Option<PathBuf>,
    /// The guest's first program (default: where the library is)
    #[arg(long, env = "NR_LINK_GUEST")]
    guest: Option<PathBuf>,
}

/// The paths of the files.
#[derive(Debug)]
pub struct TestbedFiles {
    /// The kernel.
    pub kernel: PathBuf,
    /// The library with the model.
    pub library: PathBuf,
    /// The guest's first program.
    pub guest: PathBuf,
}

impl TestbedFiles {
    /// Returns the congestion controls that the kernel has, from the list beside it.
    pub fn congestion_controls(&self) -> Result<Vec<String>> {
        let path = self.kernel.with_file_name("congestion-controls");
        let listed = std::fs::read_to_string(&path).map_err(|error| {
            lacking(
                format!(
                    "{}: the kernel's congestion controls are not known ({error})",
                    path.display()
                ),
                BUILD_KERNEL,
            )
        })?;
        Ok(listed.split_whitespace().map(str::to_owned).collect())
    }
}

impl FileOptions {
    /// Returns the options as the environment names them.
    pub fn of_environment() -> Self {
        let named = |variable| std::env::var_os(variable).map(PathBuf::from);
        Self {
            kernel: named("CCU_KERNEL"),
            library: named("NR_LINK_VIRTUAL_LIBRARY"),
            guest: named("NR_LINK_GUEST"),
        }
    }

    /// Looks for all of them.
    pub fn find(&self) -> Result<TestbedFiles> {
        let own = std::env::current_exe().context("/proc/self/exe")?;
        let folder = own.parent().unwrap_or(Path::new("/"));
        // As a distribution's package and a wheel have it: bin/nr-link, lib/nr-link/….
        let installed = folder.with_file_name("lib").join("nr-link");
        // Above .venv/bin and target/release alike.
        let tree = folder.ancestors().nth(2).unwrap_or(Path::new("/"));
        let kernels = [
            tree.join(".tools/virtual-kernel/linux"),
            installed.join("linux"),
        ];
        let beside = |name: &str| [folder.join(name), installed.join(name)];
        let reinstall =
            "Run make build in the source tree, or install this program's package again";
        Ok(TestbedFiles {
            kernel: locate(
                "kernel",
                "CCU_KERNEL",
                self.kernel.as_deref(),
                &kernels,
                BUILD_KERNEL,
            )?,
            library: locate(
                "library",
                "NR_LINK_VIRTUAL_LIBRARY",
                self.library.as_deref(),
                &beside("libnr_link_virtual.so"),
                reinstall,
            )?,
            guest: locate(
                "guest",
                "NR_LINK_GUEST",
                self.guest.as_deref(),
                &beside("nr-link-guest"),
                reinstall,
            )?,
        })
    }
}

/// Returns the file that was named, else the first of the usual ones that is there.
fn locate(
    option: &str,
    variable: &str,
    named: Option<&Path>,
    usual: &[PathBuf; 2],
    fix: &str,
) -> Result<PathBuf> {
    let Some(path) = named.or_else(|| {
        usual
            .iter()
            .map(PathBuf::as_path)
            .find(|path| path.exists())
    }) else {
        let [first, second] = usual.each_ref().map(|path| path.display());
        return Err(lacking(
            format!("the {option} of the virtual testbed is neither {first} nor {second}"),
            format!("{fix}, or name one with --{option} or {variable}"),
        ));
    };
    path.canonicalize().map_err(|error| {
        lacking(
            format!(
                "{}: the {option} of the virtual testbed cannot be used ({error})",
                path.display()
            ),
            format!("{fix}, or name it with --{option} or {variable}"),
        )
    })
}
