// SPDX-License-Identifier: Apache-2.0
//! The folder for a shell's files: named by the caller, or temporary.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// An existing folder; a temporary one is deleted on drop.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    temporary: bool,
}

impl Folder {
    /// Makes the named folder if it does not exist, or a temporary one without a name.
    pub fn of(named: Option<&Path>) -> Result<Self> {
        let temporary = named.is_none();
        let path = named.map_or_else(
            || std::env::temp_dir().join(format!("nr-link-shell-{}", std::process::id())),
            Path::to_owned,
        );
        let made = if temporary {
            fs::create_dir(&path) // fails if the folder exists: it belongs to another process
        } else {
            fs::create_dir_all(&path)
        };
        made.with_context(|| format!("cannot make the folder {}", path.display()))?;
        let path = path.canonicalize().context("looking up the folder")?;
        Ok(Self { path, temporary })
    }

    /// Returns the absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.temporary {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}
