// SPDX-License-Identifier: Apache-2.0
//! Two hosts with nr-link between them: network namespaces that are removed at the end of the test.
#![allow(
    dead_code,
    unused_imports,
    unused_macros,
    reason = "tests and benchmarks each use a part of it"
)]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

pub const SERVER: &str = "10.201.0.1";
pub const UE: &str = "10.201.0.2";

/// Network namespaces `server` and `ue`, and a folder for files.
pub struct Testbed {
    pub server: String,
    pub ue: String,
    pub folder: tempfile::TempDir,
}

/// Returns why the machine cannot run these tests, if so.
pub fn missing() -> Option<&'static str> {
    if !nix::unistd::geteuid().is_root() {
        return Some("needs root");
    }
    if !Path::new("/dev/net/tun").exists() {
        return Some("needs /dev/net/tun");
    }
    let absent = |needs: &&'static str| {
        let program = needs.rsplit(' ').next().unwrap();
        Command::new(program)
            .arg("-V")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_err()
    };
    ["needs ip", "needs ss", "needs ping", "needs iperf3"]
        .into_iter()
        .find(absent)
}

/// Skips the test on a machine that cannot run it, and prints why.
macro_rules! needs_a_testbed {
    () => {
        if let Some(reason) = $crate::testbed::missing() {
            // Written past the harness, which hides what tests that pass print.
            let _ = std::io::Write::write_fmt(
                &mut std::io::stderr(),
                format_args!("skipped: {reason}\n"),
            );
            return;
        }
    };
}
pub(crate) use needs_a_testbed;

impl Testbed {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = |host| format!("nrl{}-{count}-{host}", std::process::id());
        let testbed = Self {
            server: name("server"),
            ue: name("ue"),
            folder: tempfile::tempdir().unwrap(),
        };
        for netns in [&testbed.server, &testbed.ue] {
            run("ip", &["netns", "add", netns]);
            // So that the link and not the sender's buffer limits a flow.
            for key in ["net.ipv4.tcp_wmem", "net.ipv4.tcp_rmem"] {
                let setting = format!("{key}=4096 1000000 64000000");
                run("ip", &["netns", "exec", netns, "sysctl", "-qw", &setting]);
            }
        }
        testbed
    }

    /// Writes link.yaml with this testbed's namespaces.
    pub fn configure(&self, prb: u16, delay_ms: f64) -> PathBuf {
        write_config(self.folder.path(), prb, delay_ms, [&self.server, &self.ue])
    }

    /// Starts nr-link, waits until traffic can flow, and assigns addresses to the devices.
    pub fn start(&self, config: &Path) -> NrLink {
        let mut child = nr_link(config).stdout(Stdio::piped()).spawn().unwrap();
        let mut ready = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut ready)
            .unwrap();
        let link = NrLink { child, ready };
        assert!(
            link.ready.starts_with(r#"{"event":"ready""#),
            "{}",
            link.ready
        );
        self.address_devices();
        link
    }

    /// Assigns addresses to n6 and ue1.
    pub fn address_devices(&self) {
        for (netns, device, address, peer) in [
            (&self.server, "n6", SERVER, UE),
            (&self.ue, "ue1", UE, SERVER),
        ] {
            run(
                "ip",
                &[
                    "-n", netns, "address", "add", address, "peer", peer, "dev", device,
                ],
            );
        }
    }

    /// Runs a program on the server or the UE and returns its output.
    pub fn on(&self, netns: &str, program: &str, arguments: &[&str]) -> String {
        run(
            "ip",
            &[&["netns", "exec", netns, program], arguments].concat(),
        )
    }

    /// Starts an iperf3 server on a host, for one test.
    pub fn iperf3_server(&self, netns: &str) -> Background {
        let mut command = Command::new("ip");
        command
            .args(["netns", "exec", netns, "iperf3", "-s"])
            .stdout(Stdio::null());
        let server = Background(command.spawn().unwrap());
        let listening = || !self.on(netns, "ss", &["-tlnH", "sport = 5201"]).is_empty();
        for _ in 0..500 {
            if listening() {
                return server;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("iperf3 -s does not listen");
    }

    /// Starts a capture of a host's packets, like that of `ccu run`.
    pub fn capture(&self, netns: &str) -> Background {
        let file = self.folder.path().join(format!("{netns}.pcap"));
        let mut command = Command::new("ip");
        command
            .args(["netns", "exec", netns, "tcpdump", "-i", "any", "-n"])
            .args(["-s", "128", "-B", "65536", "-w"])
            .arg(file)
            .stderr(Stdio::null());
        let capture = Background(command.spawn().unwrap());
        std::thread::sleep(std::time::Duration::from_millis(500));
        capture
    }

    /// Starts an iperf3 client, which prints its report as JSON.
    pub fn iperf3_client(&self, netns: &str, to: &str, seconds: u64, more: &[&str]) -> Child {
        let seconds = seconds.to_string();
        let mut command = Command::new("ip");
        command
            .args([
                "netns", "exec", netns, "iperf3", "-c", to, "-t", &seconds, "-J",
            ])
            .args(more);
        command.stdout(Stdio::piped()).spawn().unwrap()
    }

    /// Returns a column of a CSV file that nr-link wrote.
    pub fn column(&self, file: &str, name: &str) -> Vec<Option<f64>> {
        let text = std::fs::read_to_string(self.folder.path().join(file)).unwrap();
        let mut lines = text.lines();
        let header: Vec<&str> = lines.next().unwrap().split(',').collect();
        let at = header
            .iter()
            .position(|&column| column == name)
            .expect(name);
        lines
            .map(|line| line.split(',').nth(at).unwrap().parse().ok())
            .collect()
    }
}

impl Drop for Testbed {
    fn drop(&mut self) {
        for netns in [&self.server, &self.ue] {
            let _ = Command::new("ip").args(["netns", "delete", netns]).status();
        }
    }
}

/// A process that is terminated at the end of the test.
pub struct Background(Child);

impl Drop for Background {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A running nr-link.
pub struct NrLink {
    pub child: Child,
    pub ready: String,
}

impl NrLink {
    /// Sends SIGTERM; the exit code must be 0.
    pub fn stop(mut self) {
        run("kill", &[&self.child.id().to_string()]);
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for NrLink {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the command `nr-link run`.
pub fn nr_link(config: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nr-link"));
    command.arg("run").arg("--config").arg(config);
    command
}

/// Returns the message of an error.
pub fn error_message(output: &Output) -> String {
    assert!(!output.status.success());
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{program} {}: {error}",
        arguments.join(" ")
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Writes link.yaml with a constant channel and one UE.
pub fn write_config(folder: &Path, prb: u16, delay_ms: f64, [server, ue]: [&str; 2]) -> PathBuf {
    let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rf-scenarios/static.yaml");
    let config = folder.join("link.yaml");
    let text = include_str!("../../../../model/tests/common/link.yaml")
        .replace("prb: 106", &format!("prb: {prb}"))
        .replace("scenario.yaml", &scenario.display().to_string())
        .replace("delay_ms: 10.0", &format!("delay_ms: {delay_ms}"))
        .replace("{name: n6}", &format!("{{name: n6, netns: {server}}}"))
        .replace("{name: ue1}", &format!("{{name: ue1, netns: {ue}}}"));
    std::fs::write(&config, text).unwrap();
    config
}
