// SPDX-License-Identifier: Apache-2.0
//! The files that make up the virtual testbed besides this program.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use nr_link_virtual_plan::ABI;
use serde::Deserialize;

use crate::lacking;

const GET_KERNEL: &str = "Install the package over5g-kernel, or run make kernel (setup/virtual-kernel, 5 to 12 minutes \
                          of CPU, once) in a source tree";
/// The kernel of all users of a machine: an administrator's, and the distribution's package.
const SHARED: [&str; 2] = ["/usr/local/lib/nr-link/linux", "/usr/lib/nr-link/linux"];

/// The options that name a file which is not where it usually is.
#[derive(Debug, Args)]
pub struct FileOptions {
    /// The kernel (default: the source tree's, that of the package over5g-kernel, the newest in ~/.cache/nr-link, or
    /// /usr/local/lib/nr-link/linux)
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
                GET_KERNEL,
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
            Some(tree.join(".tools/virtual-kernel/linux")),
            Some(installed.join("linux")),
            cache().map(|cache| cache.join("nr-link/linux")),
        ];
        let kernels: Vec<_> = kernels
            .into_iter()
            .flatten()
            .chain(SHARED.map(PathBuf::from))
            .collect();
        let beside = |name: &str| [folder.join(name), installed.join(name)];
        let reinstall =
            "Run make build in the source tree, or install this program's package again";
        let kernel = locate(
            "kernel",
            "CCU_KERNEL",
            self.kernel.as_deref(),
            &kernels,
            GET_KERNEL,
        )?;
        check_version(&kernel)?;
        Ok(TestbedFiles {
            kernel,
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

/// The user's folder for files that can be made again (XDG Base Directory Specification).
fn cache() -> Option<PathBuf> {
    let named = |variable| std::env::var_os(variable).map(PathBuf::from);
    named("XDG_CACHE_HOME")
        .filter(|folder| folder.is_absolute())
        .or_else(|| named("HOME").map(|home| home.join(".cache")))
}

/// The part that nr-link reads of about.json, which setup/virtual-kernel writes beside a kernel.
#[derive(Deserialize)]
struct About {
    abi: u32,
}

/// Refuses a kernel that was built for another version of this program. One without about.json refuses by itself.
fn check_version(kernel: &Path) -> Result<()> {
    let about = kernel.with_file_name("about.json");
    let Ok(text) = std::fs::read(&about) else {
        return Ok(());
    };
    let known: About =
        serde_json::from_slice(&text).with_context(|| about.display().to_string())?;
    if known.abi != ABI {
        return Err(lacking(
            format!(
                "{}: this kernel has interface {}, and this version of nr-link ({}) needs {ABI}",
                kernel.display(),
                known.abi,
                env!("CARGO_PKG_VERSION")
            ),
            "Install over5g and over5g-kernel of the same version, or run make build kernel in the source tree",
        ));
    }
    Ok(())
}

/// Returns the file that was named, else the first of the usual ones that is there.
fn locate(
    option: &str,
    variable: &str,
    named: Option<&Path>,
    usual: &[PathBuf],
    fix: &str,
) -> Result<PathBuf> {
    let Some(path) = named.or_else(|| {
        usual
            .iter()
            .map(PathBuf::as_path)
            .find(|path| path.exists())
    }) else {
        let places: Vec<_> = usual
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        return Err(lacking(
            format!(
                "the {option} of the virtual testbed is in none of: {}",
                places.join(", ")
            ),
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
