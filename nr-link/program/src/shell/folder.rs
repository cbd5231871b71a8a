// SPDX-License-Identifier: Apache-2.0
//! Where a shell's files go: a folder that the caller names, or one that vanishes with it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A folder that exists.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    vanishes: bool,
}

impl Folder {
    /// The one that is named, made if need be; or one for the time being.
    pub fn of(named: Option<&Path>) -> Result<Self> {
        let vanishes = named.is_none();
        let path = named.map_or_else(
            || std::env::temp_dir().join(format!("nr-link-shell-{}", std::process::id())),
            Path::to_owned,
        );
        let made = if vanishes {
            fs::create_dir(&path) // a name that somebody has taken is not ours
        } else {
            fs::create_dir_all(&path)
        };
        made.with_context(|| format!("cannot make the folder {}", path.display()))?;
        let path = path.canonicalize().context("looking up the folder")?;
        Ok(Self { path, vanishes })
    }

    /// Its absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.vanishes {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}
