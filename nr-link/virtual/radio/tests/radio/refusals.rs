// SPDX-License-Identifier: Apache-2.0
//! Configurations of a channel that the radio refuses, each with file, place, rule and fix.

use std::path::Path;

use clap::Parser;
use nr_link_virtual_radio::run;

use crate::channel::{LINK, SCENARIO};
use crate::modems::{CommandLine, free_address};

const TAPS: &str = "  fading: {tap_series: {file: taps.csv}}\n";

/// Returns the words of the error with which the radio ends; `{}` is the folder of the files.
fn refused(folder: &Path, more: &str) -> String {
    let folder = folder.display().to_string();
    let line = format!(
        "radio --listen {} --gnb {} --socket {folder}/socket --channel {folder}/link.yaml{more}",
        free_address(),
        free_address(),
    );
    let words = line.split(' ');
    match CommandLine::try_parse_from(words) {
        Ok(parsed) => {
            let error = run(&parsed.radio).expect_err("it is refused");
            format!("{error:#}").replace(&folder, "{}")
        }
        Err(error) => error.to_string().replace(&folder, "{}"),
    }
}

/// Returns the error for a scenario whose taps are in a file with this content, if there is one.
fn with_taps(taps: Option<&str>) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("link.yaml"), LINK).unwrap();
    std::fs::write(
        folder.path().join("scenario.yaml"),
        format!("{SCENARIO}{TAPS}"),
    )
    .unwrap();
    if let Some(taps) = taps {
        std::fs::write(folder.path().join("taps.csv"), taps).unwrap();
    }
    refused(folder.path(), " --slot-samples 7680")
}

/// Returns the error for another link or other words.
fn with(change: (&str, &str), more: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    assert!(LINK.contains(change.0));
    let link = LINK.replace(change.0, change.1);
    std::fs::write(folder.path().join("link.yaml"), link).unwrap();
    std::fs::write(folder.path().join("scenario.yaml"), SCENARIO).unwrap();
    refused(folder.path(), more)
}

#[test]
fn taps_that_cannot_be_read_are_named_with_their_line() {
    let head = "t_s,delay_ns_1,re_1,im_1\n0,0,1,0\n";
    let cases = [
        (None, "{}/taps.csv: cannot be read"),
        (Some("hello\n"), "{}/taps.csv:1: there is no column t_s"),
        (
            Some(&format!("{head}0.001,0,x,0\n")),
            "{}/taps.csv:3: \"x\" is not a finite number. Write",
        ),
        (
            Some(&format!("{head}0.001,0,1\n")),
            "{}/taps.csv:3: the row has 3 fields, and there are 4 columns. Write",
        ),
        (
            Some(&format!("{head}0.001,-5,1,0\n")),
            "{}/taps.csv:3: -5 is not a delay between 0 and 100000 ns. Write",
        ),
    ];
    for (taps, expected) in cases {
        let said = with_taps(taps.as_ref().map(|taps| taps as &str));
        assert!(said.starts_with(expected), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn a_link_that_the_radio_cannot_be_is_named_with_its_key() {
    let slot = " --slot-samples 7680";
    let same = ("seed: 1", "seed: 1");
    let five = (
        "ue: [{name: ue1}]",
        "ue: [{name: a}, {name: b}, {name: c}, {name: d}, {name: e}]",
    );
    let cases = [
        (
            five,
            slot,
            "{}/link.yaml: devices.ue: there are 5 UEs, and the radio takes 4. Leave",
        ),
        (
            same,
            " --slot-samples 1000",
            "{}/link.yaml: radio.prb: 24 PRB need 8.64 MS/s, and the modems have 2 MS/s. Correct",
        ),
        (
            ("scenario: scenario.yaml", "scenario: other.yaml"),
            slot,
            "{}/other.yaml: cannot be read",
        ),
        (
            same,
            " --slot-samples 7680 --channel-record /nowhere/channel.csv",
            "/nowhere/channel.csv: No such file or directory",
        ),
        (
            same,
            " --slot-samples 7680 --antennas 9x9",
            "error: invalid value '9x9' for '--antennas <GNBxUE>': write antennas of gNB and UE",
        ),
    ];
    for (change, more, expected) in cases {
        let said = with(change, more);
        assert!(said.starts_with(expected), "{said}");
    }
}
