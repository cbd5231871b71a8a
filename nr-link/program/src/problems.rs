// SPDX-License-Identifier: Apache-2.0
//! Output of problems, as text or as JSON for other programs (docs/nr-link.md).

use std::ffi::OsString;
use std::io;

use clap::ValueEnum;
use clap::error::{ContextKind, ContextValue};
use nr_link_model::{Place, Problem};
use serde_json::{Value, json};

/// The format of problems on standard error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One message: `nr-link: error: file:line: key: rule. Fix`
    #[default]
    Text,
    /// One line with a JSON list of {"where": {"file", "line", "key"}, "rule", "fix"}
    Json,
}

impl Format {
    /// Finds the requested format in a command line that has an error elsewhere.
    pub fn requested(arguments: impl Iterator<Item = OsString>) -> Self {
        let arguments: Vec<_> = arguments.collect();
        let separate = arguments
            .windows(2)
            .any(|pair| pair[0] == "--problems" && pair[1] == "json");
        if separate || arguments.iter().any(|one| one == "--problems=json") {
            Self::Json
        } else {
            Self::Text
        }
    }
}

/// Renders the error of a command.
pub fn render_error(error: &anyhow::Error, format: Format) -> String {
    let of_machine = || error.downcast_ref::<io::Error>()?.get_ref()?.downcast_ref();
    match (format, error.downcast_ref::<Problem>().or_else(of_machine)) {
        (Format::Text, _) => text(&format!("{error:#}")),
        (Format::Json, Some(Problem { place, rule, fix })) => json_list(place, rule, Some(fix)),
        (Format::Json, None) => json_list(&Place::default(), &format!("{error:#}"), None),
    }
}

/// Renders an error in the command line.
pub fn render_command_line_error(error: &clap::Error, format: Format) -> String {
    let message = error.to_string();
    let message = message.strip_prefix("error: ").unwrap_or(&message);
    if format == Format::Text {
        return text(message);
    }
    let (rule, usage) = message.split_once('\n').unwrap_or((message, ""));
    let usage: Vec<&str> = usage
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let key = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(option)) => option.split_whitespace().next().map(str::to_owned),
        _ => None,
    };
    let place = Place {
        key,
        ..Place::default()
    };
    json_list(&place, rule.trim_end_matches(':'), Some(&usage.join("; ")))
}

/// Renders `nr-link: error: message`, with further lines indented.
fn text(message: &str) -> String {
    let mut lines = message.trim_end().lines();
    let mut text = format!("nr-link: error: {}", lines.next().unwrap_or_default());
    for line in lines.filter(|line| !line.trim().is_empty()) {
        text.push_str("\n  ");
        text.push_str(line.trim_start());
    }
    text
}

/// Returns a problem as JSON.
pub fn value(Problem { place, rule, fix }: &Problem) -> Value {
    object(place, rule, Some(fix))
}

fn json_list(place: &Place, rule: &str, fix: Option<&str>) -> String {
    json!([object(place, rule, fix)]).to_string()
}

fn object(place: &Place, rule: &str, fix: Option<&str>) -> Value {
    let file = place.file.as_ref().map(|file| file.to_string_lossy());
    json!({
        "where": {"file": file, "line": place.line, "key": place.key},
        "rule": rule,
        "fix": fix,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_lines_are_indented_and_empty_ones_omitted() {
        assert_eq!(text("one"), "nr-link: error: one");
        assert_eq!(
            text("one\n\n  two\nthree\n"),
            "nr-link: error: one\n  two\n  three"
        );
    }
}
