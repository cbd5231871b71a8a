// SPDX-License-Identifier: Apache-2.0
//! TLS of both ends: one certificate, which the sender trusts alone, and the key log.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, Result};
use quinn_proto::TimeSource;
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::time_provider::TimeProvider;
use rustls::{ClientConfig, KeyLog, RootCertStore, ServerConfig, version::TLS13};

const PROTOCOL: &[u8] = b"quic-flow/1";
/// A time in which the certificate is valid, 2026-01-01: no end asks for the wall clock.
const NOW: Duration = Duration::from_secs(1_767_225_600);

/// The time that never passes.
#[derive(Debug)]
pub struct FixedTime;

impl TimeProvider for FixedTime {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(NOW))
    }
}

impl TimeSource for FixedTime {
    fn now(&self) -> std::time::SystemTime {
        std::time::UNIX_EPOCH + NOW
    }
}

/// The secrets of a connection in the format of NSS, which tshark reads.
#[derive(Debug)]
struct KeyFile(Mutex<File>);

impl KeyLog for KeyFile {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        let line = format!("{label} {} {}\n", hex(client_random), hex(secret));
        let mut file = self.0.lock().expect("no holder panics");
        let _ = file.write_all(line.as_bytes()); // a full disk: the run notices at its qlog
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn key_log(file: Option<&Path>) -> Result<Option<Arc<dyn KeyLog>>> {
    let Some(file) = file else { return Ok(None) };
    let created = File::create(file).with_context(|| file.display().to_string())?;
    Ok(Some(Arc::new(KeyFile(Mutex::new(created)))))
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// Makes the receiver's side.
///
/// # Errors
/// A file that cannot be read, or whose key is not the certificate's.
pub fn server(certificate: &Path, key: &Path, keys: Option<&Path>) -> Result<QuicServerConfig> {
    let chain = vec![read_certificate(certificate)?];
    let key_of = PrivateKeyDer::from_pem_file(key)
        .with_context(|| format!("{}: is not a private key in PEM", key.display()))?;
    let mut config = ServerConfig::builder_with_details(provider(), Arc::new(FixedTime))
        .with_protocol_versions(&[&TLS13])?
        .with_no_client_auth()
        .with_single_cert(chain, key_of)
        .with_context(|| format!("{} and {}", certificate.display(), key.display()))?;
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    config.max_early_data_size = u32::MAX; // RFC 9001 section 4.6.1: 0-RTT
    if let Some(log) = key_log(keys)? {
        config.key_log = log;
    }
    Ok(QuicServerConfig::try_from(config)?)
}

/// Makes the sender's side, which trusts `certificate` and no other.
///
/// # Errors
/// A file that cannot be read.
pub fn client(certificate: &Path, keys: Option<&Path>) -> Result<QuicClientConfig> {
    let mut roots = RootCertStore::empty();
    roots
        .add(read_certificate(certificate)?)
        .with_context(|| certificate.display().to_string())?;
    let mut config = ClientConfig::builder_with_details(provider(), Arc::new(FixedTime))
        .with_protocol_versions(&[&TLS13])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    config.enable_early_data = true;
    if let Some(log) = key_log(keys)? {
        config.key_log = log;
    }
    Ok(QuicClientConfig::try_from(config)?)
}

fn read_certificate(file: &Path) -> Result<CertificateDer<'static>> {
    CertificateDer::from_pem_file(file)
        .with_context(|| format!("{}: is not a certificate in PEM", file.display()))
}
