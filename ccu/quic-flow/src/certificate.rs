// SPDX-License-Identifier: Apache-2.0
//! The receiver's certificate and key, which follow from a seed.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use rcgen::{CertificateParams, KeyPair, SerialNumber, date_time_ymd};
use rustls::pki_types::PrivatePkcs8KeyDer;

use crate::seed::Seed;

/// The name that the certificate is for.
pub const SERVER_NAME: &str = "receiver.quic-flow";
/// The files of a folder with certificate and key.
pub const CERTIFICATE: &str = "quic-certificate.pem";
/// See [`CERTIFICATE`].
pub const KEY: &str = "quic-key.pem";

/// RFC 8410 section 7: a private key of Ed25519 before its 32 bytes. Its signatures have nothing random.
const ED25519_PKCS8: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/// Writes both files into `folder`.
///
/// # Errors
/// The folder cannot be written.
pub fn write(folder: &Path, seed: u64) -> Result<()> {
    let seed = Seed::new(seed, "certificate");
    let der = [&ED25519_PKCS8[..], &seed.bytes("key")].concat();
    let key = KeyPair::try_from(&PrivatePkcs8KeyDer::from(der)).context("key")?;
    let mut parameters = CertificateParams::new(vec![SERVER_NAME.into()]).context(SERVER_NAME)?;
    parameters.serial_number = Some(SerialNumber::from_slice(&seed.bytes("serial number")[..8]));
    // No run asks for the time: virtual time begins in 2001.
    parameters.not_before = date_time_ymd(2000, 1, 1);
    parameters.not_after = date_time_ymd(2100, 1, 1);
    let certificate = parameters.self_signed(&key).context("certificate")?;
    for (name, text) in [(CERTIFICATE, certificate.pem()), (KEY, key.serialize_pem())] {
        let file = folder.join(name);
        fs::write(&file, text).with_context(|| file.display().to_string())?;
    }
    Ok(())
}
