// SPDX-License-Identifier: Apache-2.0
//! The reading of files that users name: regular ones only, up to a size.
//!
//! A named pipe would hang its reader, and a device such as /dev/zero never ends.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// More than people write; long series belong into CSV files.
pub const LARGEST_TEXT_BYTES: u64 = 16 << 20;

/// Opens a regular file of at most `largest` bytes.
///
/// # Errors
/// It cannot be opened, is something else, or is larger.
pub fn open(file: &Path, largest: u64) -> io::Result<impl Read + use<>> {
    let about = fs::metadata(file)?;
    if !about.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    if about.len() > largest {
        let bytes = about.len();
        return Err(io::Error::other(format!(
            "has {bytes} bytes, more than {largest}"
        )));
    }
    Ok(File::open(file)?.take(largest))
}

/// Reads the text of a regular file of at most [`LARGEST_TEXT_BYTES`].
///
/// # Errors
/// As [`open`]; it is not UTF-8.
pub fn read_text(file: &Path) -> io::Result<String> {
    let mut text = String::new();
    open(file, LARGEST_TEXT_BYTES)?.read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_up_to_a_size_are_read() {
        let folder = std::env::temp_dir().join(format!("nr-link-input-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let plain = folder.join("plain");
        fs::write(&plain, "text").unwrap();
        assert_eq!(read_text(&plain).unwrap(), "text");
        let large = folder.join("large");
        File::create(&large).unwrap().set_len(1 << 40).unwrap();
        let refused = |file: &Path| read_text(file).unwrap_err().to_string();
        assert!(refused(&large).starts_with("has 1099511627776 bytes"));
        for other in [folder.as_path(), Path::new("/dev/zero")] {
            assert_eq!(refused(other), "not a regular file");
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
