// SPDX-License-Identifier: Apache-2.0
//! Real traffic of this machine's kernel through the link, between network namespaces.

use std::process::Command;
use std::time::Duration;

use crate::ping::{least_rtt_ms, received_count};
use crate::testbed::{
    NrLink, SERVER, Testbed, UE, error_message, needs_a_testbed, nr_link, write_config,
};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

fn has_device(testbed: &Testbed, netns: &str) -> bool {
    testbed
        .on(netns, "ip", &["-o", "link"])
        .lines()
        .any(|line| line.contains("n6:") || line.contains("ue1:"))
}

fn summary(testbed: &Testbed) -> Value {
    serde_json::from_slice(&std::fs::read(testbed.folder.path().join("link-summary.json")).unwrap())
        .unwrap()
}

#[test]
fn a_ping_takes_at_least_the_path_and_the_delay_of_the_mac_is_reported() {
    needs_a_testbed!();
    let testbed = Testbed::new();
    let link = testbed.start(&testbed.configure(106, 10.0));
    let output = testbed.on(
        &testbed.server,
        "ping",
        &["-c", "20", "-w", "30", "-i", "0.05", "-q", UE],
    );
    link.stop();
    let least_ms = least_rtt_ms(&output);
    assert!(received_count(&output) >= 20, "{output}");
    assert!(least_ms >= 20.0, "{output}");
    let floor = &summary(&testbed)["mac_floor_ms"];
    assert!(
        floor["dl"].as_f64().unwrap() > 0.0 && floor["ul"].as_f64().unwrap() > 0.0,
        "{floor}"
    );
}

#[test]
fn no_packet_is_quicker_than_the_path_after_a_stall() {
    needs_a_testbed!();
    let testbed = Testbed::new();
    let link = testbed.start(&testbed.configure(106, 10.0));
    let _server = testbed.iperf3_server(&testbed.ue);
    let load = testbed.iperf3_client(&testbed.server, UE, 3, &["-u", "-b", "40M"]);
    let process = Pid::from_raw(link.child.id() as i32);
    let stalls = std::thread::spawn(move || {
        for _ in 0..40 {
            for (signal, then_ms) in [(Signal::SIGSTOP, 15), (Signal::SIGCONT, 25)] {
                kill(process, signal).unwrap();
                std::thread::sleep(Duration::from_millis(then_ms));
            }
        }
    });
    let pings = ["-w", "2", "-i", "0.002", "-q", UE];
    let output = testbed.on(&testbed.server, "ping", &pings);
    stalls.join().unwrap();
    load.wait_with_output().unwrap();
    link.stop();
    // A packet is stamped up to 0.1 ms early when it waited for the start of a slot.
    assert!(least_rtt_ms(&output) >= 19.8, "{output}");
}

#[test]
fn drops_of_a_devices_queue_are_counted_like_the_kernel_does() {
    needs_a_testbed!();
    let testbed = Testbed::new();
    let link = testbed.start(&testbed.configure(106, 1.0));
    let process = Pid::from_raw(link.child.id() as i32);
    kill(process, Signal::SIGSTOP).unwrap();
    let more_than_its_queue = ["-q", "-l", "3000", "-c", "3000", "-w", "1", UE];
    let pinged = Command::new("ip")
        .args(["netns", "exec", &testbed.server, "ping"])
        .args(more_than_its_queue)
        .output();
    pinged.unwrap(); // without an answer, since the link is stopped
    kill(process, Signal::SIGCONT).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    let reported = testbed.on(&testbed.server, "ip", &["-s", "-j", "link", "show", "n6"]);
    let kernel: Value = serde_json::from_str(&reported).unwrap();
    let dropped = kernel[0]["stats64"]["tx"]["dropped"].as_u64().unwrap();
    link.stop();
    assert!(dropped >= 1500, "{reported}");
    assert_eq!(summary(&testbed)["host_drop_count"], dropped);
    assert_eq!(summary(&testbed)["verdict"], "invalid");
    let by_row = testbed.column("link.csv", "host_drop_count");
    assert!(by_row.contains(&Some(dropped as f64)), "{by_row:?}");
}

#[test]
fn the_ready_line_describes_the_devices() {
    needs_a_testbed!();
    let testbed = Testbed::new();
    let link = testbed.start(&testbed.configure(24, 1.0));
    let ready: Value = serde_json::from_str(&link.ready).unwrap();
    for (device, name, netns) in [(0, "n6", &testbed.server), (1, "ue1", &testbed.ue)] {
        let device = &ready["devices"][device];
        assert_eq!(
            (device["name"].as_str(), device["netns"].as_str()),
            (Some(name), Some(netns.as_str()))
        );
        let by_ip = testbed.on(netns, "ip", &["-o", "link", "show", name]);
        let reported = |key: &str| device[key].as_u64().unwrap();
        assert!(
            by_ip.contains(&format!("mtu {} ", reported("mtu_bytes"))),
            "{by_ip}"
        );
        assert!(
            by_ip.contains(&format!("qlen {}", reported("txqueuelen"))),
            "{by_ip}"
        );
    }
    link.stop();
}

#[test]
fn the_summary_counts_cross_traffic() {
    needs_a_testbed!();
    let testbed = Testbed::new();
    let config = testbed.configure(24, 1.0);
    let text = std::fs::read_to_string(&config).unwrap();
    let slow = "ul: {rate_mbps: 4, queue: {packets: 5}, cross_traffic: {rate_mbps: 8, packet_bytes: 1000}, delay_ms";
    std::fs::write(&config, text.replacen("ul: {delay_ms", slow, 1)).unwrap();
    let link = testbed.start(&config);
    // The line is overloaded: some of the answers are lost.
    let ping = format!("ping -c 5 -i 0.05 -W 1 -q {UE} || true");
    testbed.on(&testbed.server, "sh", &["-c", &ping]);
    link.stop();
    let summary = summary(&testbed);
    let cross = &summary["cross_traffic"];
    assert!(cross["dl"].is_null(), "{cross}");
    let packets = cross["ul"]["packets"].as_f64().unwrap();
    let drops = cross["ul"]["queue_drop_packets"].as_f64().unwrap();
    // 1000 packets per second until the model last ran, of which the line carries half.
    let seconds = summary["duration_s"].as_f64().unwrap();
    assert!(packets > 0.0 && packets <= 1000.0 * seconds, "{cross}");
    assert!((drops / packets - 0.5).abs() < 0.1, "{cross}");
}

#[test]
fn bytes_that_the_mac_delivered_are_bytes_that_the_device_received() {
    needs_a_testbed!();
    let testbed = Testbed::new();
    let link = testbed.start(&testbed.configure(106, 1.0));
    testbed.on(
        &testbed.server,
        "ping",
        &["-c", "50", "-i", "0.002", "-s", "1200", "-q", UE],
    );
    let statistics = testbed.on(&testbed.ue, "ip", &["-s", "-j", "link", "show", "ue1"]);
    link.stop();
    let device: Value = serde_json::from_str(&statistics).unwrap();
    let received = device[0]["stats64"]["rx"]["bytes"].as_f64().unwrap();
    let delivered = testbed
        .column("mac.csv", "mac_dl_sdu_bytes")
        .last()
        .unwrap()
        .unwrap();
    assert!(received >= 50.0 * 1228.0);
    assert_eq!(received, delivered);
}

#[test]
fn after_sigkill_no_device_is_left_and_the_rows_are_readable() {
    needs_a_testbed!();
    let testbed = Testbed::new();
    let mut link = testbed.start(&testbed.configure(106, 1.0));
    testbed.on(
        &testbed.server,
        "ping",
        &["-c", "20", "-i", "0.01", "-q", UE],
    );
    assert!(has_device(&testbed, &testbed.server) && has_device(&testbed, &testbed.ue));
    link.child.kill().unwrap();
    link.child.wait().unwrap();
    assert!(!has_device(&testbed, &testbed.server) && !has_device(&testbed, &testbed.ue));
    let starts = testbed.column("link.csv", "utc_ns");
    assert!(starts.len() >= 10 && starts.iter().all(Option::is_some));
    assert!(testbed.column("mac.csv", "utc_ns").len() >= 10);
}

#[test]
fn intervals_follow_each_other_without_gaps_on_utc() {
    needs_a_testbed!();
    let testbed = Testbed::new();
    let link: NrLink = testbed.start(&testbed.configure(24, 1.0));
    testbed.on(
        &testbed.ue,
        "ping",
        &["-c", "30", "-i", "0.01", "-q", SERVER],
    );
    link.stop();
    let text = std::fs::read_to_string(testbed.folder.path().join("link.csv")).unwrap();
    let rows: Vec<(i64, i64)> = text
        .lines()
        .skip(1)
        .map(|line| {
            let mut fields = line.split(',').map(|field| field.parse().unwrap());
            (fields.next().unwrap(), fields.next().unwrap())
        })
        .collect();
    for pair in rows.windows(2) {
        assert_eq!(pair[0].0 + pair[0].1, pair[1].0);
    }
    let now_ns = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos() as i64;
    assert!((now_ns - rows[0].0).abs() < 60_000_000_000, "true UTC");
}

#[test]
fn a_name_in_use_is_rejected_and_the_first_link_continues() {
    needs_a_testbed!();
    let testbed = Testbed::new();
    let config = testbed.configure(24, 1.0);
    let link = testbed.start(&config);
    let message = error_message(&nr_link(&config).output().unwrap());
    assert!(
        message.contains("n6") && message.contains("the name is taken"),
        "{message}"
    );
    assert_eq!(message.lines().count(), 1, "{message}");
    testbed.on(&testbed.server, "ping", &["-c", "1", UE]);
    link.stop();
}

#[test]
fn an_unknown_namespace_is_rejected_and_no_device_is_left() {
    needs_a_testbed!();
    let testbed = Testbed::new();
    let config = testbed.configure(24, 1.0);
    let text = std::fs::read_to_string(&config)
        .unwrap()
        .replace(&testbed.ue, "nowhere");
    std::fs::write(&config, text).unwrap();
    let message = error_message(&nr_link(&config).output().unwrap());
    assert!(
        message.contains("no network namespace nowhere"),
        "{message}"
    );
    assert!(!has_device(&testbed, &testbed.server));
}

#[test]
fn a_full_disk_ends_the_link_with_one_error_and_no_device_is_left() {
    needs_a_testbed!();
    let testbed = Testbed::new();
    let config = testbed.configure(24, 1.0);
    let text = std::fs::read_to_string(&config)
        .unwrap()
        .replace("link: link.csv", "link: /dev/full");
    std::fs::write(&config, text).unwrap();
    let message = error_message(&nr_link(&config).output().unwrap());
    assert!(
        message.contains("cannot write /dev/full: No space left"),
        "{message}"
    );
    assert!(!has_device(&testbed, &testbed.server) && !has_device(&testbed, &testbed.ue));
}

#[test]
fn without_privileges_the_error_names_the_required_ones() {
    needs_a_testbed!();
    let testbed = Testbed::new();
    let config = testbed.configure(24, 1.0);
    let mut command = Command::new("setpriv");
    command.args([
        "--bounding-set",
        "-all",
        "--inh-caps",
        "-all",
        env!("CARGO_BIN_EXE_nr-link"),
        "run",
        "--config",
    ]);
    let message = error_message(&command.arg(&config).output().unwrap());
    assert!(
        message.contains("CAP_SYS_ADMIN") && message.contains("run nr-link as root"),
        "{message}"
    );
}

#[test]
fn check_needs_no_privileges_and_rejects_values_outside_the_standard() {
    let testbed_free = tempfile::tempdir().unwrap();
    let config = write_config(testbed_free.path(), 106, 1.0, ["a", "b"]);
    let check = || {
        Command::new(env!("CARGO_BIN_EXE_nr-link"))
            .args(["check", "--config"])
            .arg(&config)
            .output()
            .unwrap()
    };
    let resolved = check();
    assert!(
        resolved.status.success(),
        "{}",
        String::from_utf8_lossy(&resolved.stderr)
    );
    assert!(String::from_utf8_lossy(&resolved.stdout).contains("prb: 106"));
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, text.replace("prb: 106", "prb: 107")).unwrap();
    let message = error_message(&check());
    assert!(
        message.contains("link.yaml") && message.contains("107"),
        "{message}"
    );
}

#[test]
fn the_selftest_reports_lateness_and_throughput() {
    needs_a_testbed!();
    let output = Command::new(env!("CARGO_BIN_EXE_nr-link"))
        .args(["selftest", "--seconds", "1"])
        .output()
        .unwrap();
    let reported: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(reported["slots"].as_u64().unwrap() >= 2000);
    assert!(reported["lateness_p99_us"].as_f64() >= reported["lateness_p50_us"].as_f64());
    let gbps = |of: &str| reported[of].as_f64().unwrap();
    assert!(gbps("link_gbps_per_core") > 0.0);
    assert!(gbps("crossing_gbps_per_core") > 0.0);
}

#[test]
fn packets_reach_each_of_three_ues_and_each_is_counted() {
    needs_a_testbed!();
    let (testbed, more) = (Testbed::new(), Testbed::new());
    let ues = [&testbed.ue, &more.server, &more.ue];
    let addresses = ["10.201.0.2", "10.201.0.3", "10.201.0.4"];
    let config = testbed.configure(106, 1.0);
    let entry = |(number, (netns, address)): (usize, (&&String, &&str))| {
        format!(
            "{{name: ue{}, netns: {netns}, addresses: [{address}]}}",
            number + 1
        )
    };
    let entries: Vec<String> = ues.iter().zip(&addresses).enumerate().map(entry).collect();
    let text = std::fs::read_to_string(&config).unwrap();
    let one = format!("{{name: ue1, netns: {}}}", testbed.ue);
    assert!(text.contains(&one));
    std::fs::write(&config, text.replace(&one, &entries.join(", "))).unwrap();
    let link = testbed.start(&config);
    for (number, (netns, address)) in ues.iter().zip(addresses).enumerate().skip(1) {
        let device = format!("ue{}", number + 1);
        let own = ["address", "add", address, "peer", SERVER, "dev", &device];
        testbed.on(netns, "ip", &own);
        testbed.on(
            &testbed.server,
            "ip",
            &["route", "add", address, "dev", "n6"],
        );
    }
    for (address, count) in addresses.iter().zip(["3", "5", "9"]) {
        let output = testbed.on(
            &testbed.server,
            "ping",
            &["-c", count, "-i", "0.01", "-s", "972", "-q", address],
        );
        assert!(output.contains(&format!("{count} received")), "{output}");
    }
    testbed.on(
        &testbed.server,
        "ip",
        &["route", "add", "10.201.0.9", "dev", "n6"],
    );
    let nobody = [
        "netns",
        "exec",
        &testbed.server,
        "ping",
        "-c",
        "1",
        "-W",
        "0.2",
        "10.201.0.9",
    ];
    assert!(
        !Command::new("ip")
            .args(nobody)
            .output()
            .unwrap()
            .status
            .success()
    );
    link.stop();
    let (ue, bytes) = (
        testbed.column("mac.csv", "ue"),
        testbed.column("mac.csv", "mac_dl_sdu_bytes"),
    );
    for (number, pings) in [3.0, 5.0, 9.0].into_iter().enumerate() {
        let delivered = ue
            .iter()
            .zip(&bytes)
            .filter(|(ue, _)| **ue == Some(number as f64));
        let total = delivered
            .map(|(_, bytes)| bytes.unwrap())
            .fold(0.0, f64::max);
        // A ping has 972 bytes with its ICMP and IP headers; the kernel's own few packets are
        // smaller.
        assert!(
            (pings * 1000.0..pings * 1000.0 + 900.0).contains(&total),
            "UE {number}: {total}"
        );
    }
    assert!(summary(&testbed)["unaddressed_packets"].as_u64() >= Some(1));
}

#[test]
fn one_of_several_ues_without_an_address_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let config = write_config(folder.path(), 24, 1.0, ["a", "b"]);
    let text = std::fs::read_to_string(&config).unwrap();
    let two = "{name: ue1, addresses: [10.0.0.2]}, {name: ue2}";
    std::fs::write(&config, text.replace("{name: ue1, netns: b}", two)).unwrap();
    let message = error_message(&nr_link(&config).output().unwrap());
    assert!(
        message.contains("ue2 is one of 2 UEs and has no addresses"),
        "{message}"
    );
}
