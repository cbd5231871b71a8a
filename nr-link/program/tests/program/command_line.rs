// SPDX-License-Identifier: Apache-2.0
//! Errors of the command line, and a reader that closes its output.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::testbed::write_config;

fn nr_link(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_nr-link"))
        .args(arguments)
        .output()
        .unwrap()
}

#[test]
fn wrong_input_is_one_message_and_code_2() {
    let folder = tempfile::tempdir().unwrap();
    let config = write_config(folder.path(), 106, 1.0, ["a", "b"]);
    let config = config.to_str().unwrap();
    let here = folder.path().to_str().unwrap();
    for (arguments, words) in [
        (vec!["chek"], "unrecognized subcommand 'chek'"),
        (vec!["check", "--confg", config], "unexpected argument"),
        (vec!["check"], "--config <FILE>"),
        (
            vec!["check", "--config", "/nowhere.yaml"],
            "/nowhere.yaml: cannot be read",
        ),
        (vec!["check", "--config", here], "cannot be read"),
        (
            vec!["capacity", "--config", config, "--seconds", "nan"],
            "--seconds: NaN s is not above 0",
        ),
        (
            vec!["capacity", "--config", config, "--seconds", "-1"],
            "--seconds: -1 s is not above 0",
        ),
        (
            vec![
                "capacity",
                "--config",
                config,
                "--interval-ms",
                "9999999999999999",
            ],
            "is not between 1 and 3600000",
        ),
        (
            vec![
                "shell",
                "--loss-ratio",
                "nan",
                "--trace",
                config,
                config,
                "--",
                "true",
            ],
            "is not a finite number",
        ),
        (
            vec!["shell", "--trace", here, here, "--", "true"],
            "is not a file. Name a trace",
        ),
        (vec!["selftest", "--seconds", "0"], "0 is not in 1..=3600"),
        (
            vec!["capacity", "--config", config, "--interval-ms", "0"],
            "--interval-ms: 0",
        ),
        (
            vec!["capacity", "--config", config, "--interval-ms", "20ms"],
            "invalid value '20ms'",
        ),
    ] {
        let answer = nr_link(&arguments);
        let said = String::from_utf8(answer.stderr).unwrap();
        assert_eq!(answer.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(answer.stdout.is_empty(), "{arguments:?}");
        let mut lines = said.lines();
        let first = lines.next().unwrap();
        assert!(first.starts_with("nr-link: error: "), "{said}");
        assert!(lines.all(|line| line.starts_with("  ")), "{said}");
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
}

#[test]
fn problems_are_printed_as_json_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let config = write_config(folder.path(), 107, 1.0, ["a", "b"]);
    let config = config.to_str().unwrap();
    for (arguments, place, rule) in [
        (
            vec!["check", "--config", config],
            json!({"file": config, "line": 7, "key": "radio.prb"}),
            "107 PRB is not a channel bandwidth",
        ),
        (
            vec!["run", "--config", config],
            json!({"file": config, "line": 7, "key": "radio.prb"}),
            "107 PRB is not a channel bandwidth",
        ),
        (
            vec!["shell", "--config", config, "true"],
            json!({"file": null, "line": null, "key": "true"}),
            "unexpected argument",
        ),
        (
            vec!["capacity", "--seconds", "x", "--config", config],
            json!({"file": null, "line": null, "key": "--seconds"}),
            "invalid value 'x'",
        ),
        (
            vec!["check", "--config", "/nowhere.yaml"],
            json!({"file": "/nowhere.yaml", "line": null, "key": null}),
            "cannot be read",
        ),
    ] {
        let [subcommand, rest @ ..] = &arguments[..] else {
            panic!("no subcommand");
        };
        let answer = nr_link(&[&[subcommand, "--problems", "json"], rest].concat());
        assert_eq!(answer.status.code(), Some(2), "{arguments:?}");
        assert!(answer.stdout.is_empty(), "{arguments:?}");
        let problems: Value = serde_json::from_slice(&answer.stderr).unwrap();
        assert_eq!(problems.as_array().map(Vec::len), Some(1), "{problems}");
        assert_eq!(problems[0]["where"], place);
        assert!(
            problems[0]["rule"].as_str().unwrap().starts_with(rule),
            "{problems}"
        );
        assert!(!problems[0]["fix"].as_str().unwrap().is_empty());
    }
}

#[test]
fn a_reader_that_closes_is_not_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let config = write_config(folder.path(), 106, 1.0, ["a", "b"]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_nr-link"))
        .args([
            "capacity",
            "--seconds",
            "3600",
            "--interval-ms",
            "1",
            "--config",
        ])
        .arg(&config)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert!(line.starts_with("t_s,"));
    let ended = child.wait().unwrap();
    let mut said = String::new();
    child.stderr.unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(ended.signal(), Some(nix::libc::SIGPIPE));
    assert_eq!(said, "");
}
