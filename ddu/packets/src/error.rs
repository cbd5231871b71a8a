// SPDX-License-Identifier: Apache-2.0
//! The errors of a capture, in words for its user. The caller knows the file's name and puts it in front.

use std::fmt;

/// The reason why a capture cannot be read (further).
#[derive(Debug)]
pub enum CaptureError {
    /// The operating system refused to open or read the file.
    Io(std::io::Error),
    /// The content of the file violates its format, from this byte on.
    Malformed {
        /// Offset in the file; in the decompressed stream if the file is compressed.
        byte_offset: u64,
        /// The problem there.
        problem: String,
    },
}

/// The result of reading a capture.
pub type Result<T> = std::result::Result<T, CaptureError>;

pub(crate) fn malformed<T>(byte_offset: u64, problem: impl Into<String>) -> Result<T> {
    Err(CaptureError::Malformed {
        byte_offset,
        problem: problem.into(),
    })
}

impl From<std::io::Error> for CaptureError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Malformed {
                byte_offset,
                problem,
            } => write!(f, "at byte {byte_offset}: {problem}"),
        }
    }
}

impl std::error::Error for CaptureError {}
