// SPDX-License-Identifier: Apache-2.0
//! Tests of `nr-link shell`: a command within a link.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use crate::ping::{least_rtt_ms, received_count};
use crate::testbed::{error_message, needs_a_testbed, write_config};

/// Opportunities at each millisecond of the uplink trace.
const UP: u32 = 1;
const DOWN: u32 = 3;
/// The length of both traces, ms: a number that no interval divides.
const TRACE_MS: u32 = 97;

fn write_traces(folder: &Path) {
    for (name, each) in [("up.txt", UP), ("down.txt", DOWN)] {
        let stamps = (1..=TRACE_MS).map(|ms| format!("{ms}\n").repeat(each as usize));
        fs::write(folder.join(name), stamps.collect::<String>()).unwrap();
    }
}

fn shell(folder: &Path, more: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_nr-link"))
        .current_dir(folder)
        .args(["shell", "--trace", "up.txt", "down.txt"])
        .args(more)
        .output()
        .unwrap()
}

fn output_text(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code().is_some(), "{error}");
    format!("{}{error}", String::from_utf8_lossy(&output.stdout))
}

#[test]
fn a_command_is_the_ue_and_its_exit_code_is_passed_on() {
    needs_a_testbed!();
    let folder = tempfile::tempdir().unwrap();
    write_traces(folder.path());
    let script = "ip -br address show ue1; ping -c 5 -w 30 -i 0.05 -q $NR_LINK_SERVER; exit 7";
    let output = shell(
        folder.path(),
        &["--delay-ms", "10", "--", "sh", "-c", script],
    );
    let text = output_text(&output);
    assert_eq!(output.status.code(), Some(7), "{text}");
    assert!(
        text.contains("100.64.") && received_count(&text) >= 5,
        "{text}"
    );
    assert!(least_rtt_ms(&text) >= 20.0, "{text}");
}

/// Both shells share the caller's host, and choose their networks at the same time.
#[test]
fn shells_that_start_at_the_same_time_get_different_networks() {
    needs_a_testbed!();
    const SHELLS: usize = 32;
    let folder = tempfile::tempdir().unwrap();
    write_traces(folder.path());
    let together = Barrier::new(SHELLS);
    let here = folder.path().display();
    // Each stays until all have started, however long a busy machine takes.
    let command = format!(
        "echo at $NR_LINK_SERVER; mktemp {here}/started.XXXXXX >/dev/null; until [ -e {here}/all ]; do sleep 0.05; done"
    );
    let one = || {
        together.wait();
        output_text(&shell(folder.path(), &["--", "sh", "-c", &command]))
    };
    let networks: BTreeSet<String> = thread::scope(|scope| {
        let running: Vec<_> = (0..SHELLS).map(|_| scope.spawn(one)).collect();
        let has_started = |running: &[thread::ScopedJoinHandle<'_, String>]| {
            let files = fs::read_dir(folder.path()).unwrap();
            let names = files.map(|file| file.unwrap().file_name());
            let started = names.filter(|name| name.to_string_lossy().starts_with("started."));
            // One that has ended has failed, and starts no more.
            started.count() == SHELLS || running.iter().any(|shell| shell.is_finished())
        };
        while !has_started(&running) {
            thread::sleep(Duration::from_millis(50));
        }
        fs::write(folder.path().join("all"), "").unwrap();
        let address = |text: String| {
            text.lines()
                .find(|line| line.starts_with("at "))
                .map(str::to_owned)
        };
        running
            .into_iter()
            .map(|shell| address(shell.join().unwrap()).unwrap())
            .collect()
    });
    assert_eq!(networks.len(), SHELLS, "{networks:?}");
}

#[test]
fn it_works_without_privileges_in_a_user_namespace() {
    needs_a_testbed!();
    let folder = tempfile::tempdir().unwrap();
    write_traces(folder.path());
    // The machine may restrict /dev/net/tun and folders; within this script, users have the usual
    // permissions.
    let script = format!(
        "set -e; mount -t tmpfs tmpfs /mnt; cp {} {}/*.txt /mnt; mknod -m 666 /mnt/tun c 10 200; \
         mount --bind /mnt/tun /dev/net/tun; cd /mnt; chmod 755 . ./*.txt; \
         exec setpriv --reuid 65534 --regid 65534 --clear-groups ./nr-link shell --trace up.txt down.txt \
         --delay-ms 10 -- ping -c 5 -w 30 -i 0.2 -q 100.64.0.1",
        env!("CARGO_BIN_EXE_nr-link"),
        folder.path().display()
    );
    let mut unshared = Command::new("unshare");
    let text = output_text(&unshared.args(["-m", "sh", "-c", &script]).output().unwrap());
    if text.contains("needs a user namespace") {
        let _ = writeln!(
            std::io::stderr(),
            "skipped: this kernel gives users no namespaces: {text}"
        );
        return;
    }
    assert!(received_count(&text) >= 5, "{text}");
    assert!(least_rtt_ms(&text) >= 20.0, "{text}");
}

#[test]
fn what_the_servers_command_has_started_ends_with_it() {
    needs_a_testbed!();
    let folder = tempfile::tempdir().unwrap();
    write_traces(folder.path());
    let server = "sleep 1234 & echo $! > pid";
    let output = shell(folder.path(), &["--server", server, "--", "sleep", "0.3"]);
    assert_eq!(output.status.code(), Some(0), "{}", output_text(&output));
    let pid = fs::read_to_string(folder.path().join("pid")).unwrap();
    let state = format!("/proc/{}/stat", pid.trim());
    let deadline = Instant::now() + Duration::from_secs(10);
    // It is gone, or waits for init to look at its end.
    while fs::read_to_string(&state).is_ok_and(|text| !text.contains(") Z ")) {
        assert!(Instant::now() < deadline, "{pid} still runs");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn wrong_input_is_reported_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    write_traces(folder.path());
    for (more, expected) in [
        (
            &["--delay-ms", "-1", "--", "true"][..],
            "not a number of 0 or above",
        ),
        (
            &["--loss-ratio", "2", "--", "true"][..],
            "ratio between 0 and 1",
        ),
        (
            &["--queue-packets", "0", "--", "true"][..],
            "Write at least 1",
        ),
    ] {
        let message = error_message(&shell(folder.path(), more));
        assert!(message.contains(expected), "{message}");
    }
    fs::write(folder.path().join("up.txt"), "5\n4\n").unwrap();
    let message = error_message(&shell(folder.path(), &["--", "true"]));
    assert!(
        message.contains("up.txt:2") && message.contains("Sort the lines by time"),
        "{message}"
    );
    let config = write_config(folder.path(), 24, 1.0, ["a", "b"]);
    let mut with_netns = Command::new(env!("CARGO_BIN_EXE_nr-link"));
    let with_netns = with_netns.args(["shell", "--config"]).arg(&config);
    let message = error_message(&with_netns.args(["--", "true"]).output().unwrap());
    assert!(message.contains("Remove netns"), "{message}");
}
