// SPDX-License-Identifier: Apache-2.0
//! The file as read by other programs: tshark for the format, `ss` for the sockets.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_socket-sampler");

/// Both endpoints of a connection over `address`, kept open.
fn connection(address: &str) -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind((address, 0)).unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (client, listener.accept().unwrap().0)
}

fn start_sampling(file: &Path, port: u16) -> Child {
    let mut child = Command::new(PROGRAM)
        .args(["--interval", "5ms", "--port", &port.to_string(), "--output"])
        .arg(file)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line.trim(), r#"{"event":"ready"}"#);
    child
}

fn lines(program: &str, arguments: &[&str]) -> Option<Vec<String>> {
    let output = Command::new(program).args(arguments).output().ok()?;
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(
        String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .map(String::from)
            .collect(),
    )
}

/// Returns (source port, destination port, socket cookie) of every socket in the file, by tshark.
fn sockets_by_tshark(file: &Path) -> Option<BTreeSet<(String, String, u64)>> {
    let field = |name| format!("netlink-sock_diag.inet_{name}");
    let names = [
        field("sport"),
        field("dport"),
        "netlink-sock_diag.cookie".into(),
    ];
    let mut arguments = vec!["-r", file.to_str().unwrap(), "-T", "fields"];
    names.iter().for_each(|name| arguments.extend(["-e", name]));
    let records = lines("tshark", &arguments)?;
    let socket = |record: String| -> Vec<(String, String, u64)> {
        let columns: Vec<Vec<&str>> = record
            .split('\t')
            .map(|column| column.split(',').filter(|v| !v.is_empty()).collect())
            .collect();
        (0..columns[0].len())
            .map(|i| {
                let cookie = columns[2][i].trim_start_matches("0x");
                (
                    columns[0][i].into(),
                    columns[1][i].into(),
                    u64::from_str_radix(cookie, 16).unwrap(),
                )
            })
            .collect()
    };
    Some(records.into_iter().flat_map(socket).collect())
}

fn sockets_by_ss(port: u16) -> Option<BTreeSet<(String, String, u64)>> {
    let filter = format!("( sport = :{port} or dport = :{port} )");
    let port_of = |address: &str| address.rsplit(':').next().unwrap().to_string();
    let parse = |line: String| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let cookie = words
            .iter()
            .find_map(|word| word.strip_prefix("sk:"))
            .unwrap();
        (
            port_of(words[3]),
            port_of(words[4]),
            u64::from_str_radix(cookie, 16).unwrap(),
        )
    };
    let lines = lines("ss", &["-tneOH", "state", "connected", &filter])?;
    Some(lines.into_iter().map(parse).collect())
}

#[test]
fn tshark_reads_the_same_sockets_that_ss_lists_and_no_others() {
    for address in ["127.0.0.1", "::1"] {
        let watched = connection(address);
        let _other = connection(address);
        let port = watched.0.peer_addr().unwrap().port();
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("sockets.pcap");
        let mut sampler = start_sampling(&file, port);
        sampler.kill().unwrap(); // SIGKILL: the samples must be in the file nevertheless
        sampler.wait().unwrap();
        let (Some(seen), Some(expected)) = (sockets_by_tshark(&file), sockets_by_ss(port)) else {
            let _ = writeln!(std::io::stderr(), "skipped: needs tshark and ss");
            return;
        };
        assert_eq!(
            expected.len(),
            2,
            "both ends of the connection are on this host"
        );
        assert_eq!(seen, expected);
    }
}

#[test]
fn sigterm_ends_it_with_an_account_of_the_run() {
    let directory = tempfile::tempdir().unwrap();
    let mut sampler = start_sampling(&directory.path().join("sockets.pcap"), 1);
    Command::new("kill")
        .arg(sampler.id().to_string())
        .status()
        .unwrap();
    let mut rest = String::new();
    BufReader::new(sampler.stdout.as_mut().unwrap())
        .read_line(&mut rest)
        .unwrap();
    assert!(
        rest.starts_with(r#"{"event":"stopped","samples":"#),
        "{rest}"
    );
    assert!(sampler.wait().unwrap().success());
}

/// Runs the program until it refuses, and returns its message.
fn refusal(arguments: &[&str]) -> String {
    let output = Command::new(PROGRAM).args(arguments).output().unwrap();
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_bad_path_or_a_full_disk_is_one_clear_error() {
    let missing = refusal(&["--output", "/nowhere/sockets.pcap"]);
    assert_eq!(missing.lines().count(), 1, "{missing}");
    assert!(
        missing.contains("cannot write /nowhere/sockets.pcap: No such file"),
        "{missing}"
    );
    let full = refusal(&["--output", "/dev/full"]);
    assert!(
        full.contains("cannot write /dev/full: No space left"),
        "{full}"
    );
}

#[test]
fn an_interval_out_of_range_is_refused() {
    let message = refusal(&["--interval", "100us", "--output", "/dev/null"]);
    assert!(message.contains("between 1ms and 60s"), "{message}");
}
