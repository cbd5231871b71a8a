// SPDX-License-Identifier: Apache-2.0
//! Reading of a YAML file into a type. A problem has the file, line and key.

use std::marker::PhantomData;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde_saphyr::Error;

use crate::problem::{Place, Problem, Violation, violation};

mod lined;
mod refusal;
mod tree;
mod typed;

pub(crate) use lined::Lined;
use tree::Content;

/// Reads the text of `file`; `reference` is the document that describes its keys.
///
/// # Errors
/// The text is not YAML, or not of this type.
pub fn read<T: DeserializeOwned>(text: &str, file: &Path, reference: &str) -> Result<T, Problem> {
    let refused = |Violation { rule, fix }, line, key| Problem {
        place: Place {
            file: Some(file.to_owned()),
            line,
            key,
        },
        rule,
        fix,
    };
    let root = tree::read(text).map_err(|error| {
        let error = error.without_snippet();
        let line = error.location().map(|location| location.line());
        refused(unreadable(error, reference), line, None)
    })?;
    let root = typed::Typed { node: &root, text };
    root.read(PhantomData).map_err(|refusal| {
        let (line, key) = (refusal.line(), refusal.key());
        refused(refusal.violation(reference), line, key)
    })
}

/// Rewrites an error of the YAML library for the author of a file.
fn unreadable(error: &Error, reference: &str) -> Violation {
    if let Error::DuplicateMappingKey { key, .. } = error {
        let key = key.as_deref().unwrap_or_default();
        return violation!("the key {key} occurs twice", "Keep one of them");
    }
    let message = error.to_string();
    // The library repeats the location at the end of its message.
    let rule = message
        .rsplit_once(" at line ")
        .map_or(message.as_str(), |(rule, _)| rule);
    violation!("{rule}", "See {reference} for the form of each key")
}

/// Adds the file to a problem, and the line of its key where none is known.
pub fn located(problem: Problem, text: &str, file: &Path) -> Problem {
    let line = problem.place.key.as_deref();
    let line = line.and_then(|key| line_of(text, key));
    problem.or_in_line(line).or_in_file(file)
}

/// Finds the line of the key with this path, such as `flows[1].ue`. A key that an entry of a list does not have is on the
/// entry's line. A key of the entries of a list, and an entry that is not there, are on the line of the list's key.
fn line_of(text: &str, key: &str) -> Option<u64> {
    let root = tree::read(text).ok()?;
    let (mut node, mut line, mut in_entry) = (&root, None, false);
    for part in key.split('.') {
        let (name, index) = match part.strip_suffix(']').and_then(|part| part.split_once('[')) {
            Some((name, index)) => (name, Some(index.parse::<usize>().ok()?)),
            None => (part, None),
        };
        let found = match &node.value {
            Content::Group(entries) => entries.iter().find(|(key, _)| key.value == name),
            Content::List(_) => return line,
            _ => None,
        };
        let Some((key, value)) = found else {
            return line.filter(|_| in_entry);
        };
        (node, line) = (value, Some(key.referenced.line()));
        if let (Some(index), Content::List(list)) = (index, &value.value) {
            let Some(entry) = list.get(index) else {
                return line;
            };
            (node, line, in_entry) = (entry, Some(entry.referenced.line()), true);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "snake_case", deny_unknown_fields)]
    enum Choice {
        None,
        Pair([f64; 2]),
        Texts(BTreeMap<String, String>),
        Lines(Vec<Lined<u8>>),
    }

    fn choice(text: &str) -> Result<Choice, String> {
        read(text, Path::new("f"), "docs").map_err(|problem| problem.to_string())
    }

    #[test]
    fn values_have_the_types_that_are_asked_for() {
        assert_eq!(choice("none"), Ok(Choice::None));
        assert_eq!(choice("pair: [-1, .5]"), Ok(Choice::Pair([-1.0, 0.5])));
        assert_eq!(
            choice(r#"pair: ["1e-05", '+2']"#),
            Ok(Choice::Pair([1e-5, 2.0]))
        );
        let texts = [("a", "007"), ("b", "1.50"), ("c", "yes"), ("d", "x y")];
        let texts = texts.map(|(key, text)| (key.to_owned(), text.to_owned()));
        let text = "texts: {a: 007, b: &b 1.50, c: yes, d: 'x y'}";
        assert_eq!(choice(text), Ok(Choice::Texts(texts.into())));
        let Ok(Choice::Lines(lines)) = choice("lines:\n  - 7\n\n  - '8'") else {
            panic!("no list");
        };
        let lines = lines.into_iter().map(|Lined(line, value)| (line, value));
        assert_eq!(lines.collect::<Vec<_>>(), [(2, 7), (4, 8)]);
    }

    #[test]
    fn values_of_other_types_are_refused_with_their_place() {
        for (text, refusal) in [
            (
                "none: 3",
                "none: this alternative has no value. Write the word alone",
            ),
            (
                "pair: [1, 2, 3]",
                "pair: the list has 3 values, which are too many. See docs for",
            ),
            (
                "pair: [1, '2 ms']",
                "pair: the value is not a number. Write a number",
            ),
            (
                "texts: {a: {b: 1}}",
                "texts.a: the value is not a text. Write a text",
            ),
            (
                "lines: [256]",
                "lines: the value is not a whole number in the allowed range. Wri",
            ),
            (
                "lines: [1]\nnone:",
                "2: lines: several alternatives are given",
            ),
            (
                "other: 3",
                "unknown value \"other\". Choose one of: none, pair, texts, lines",
            ),
            (
                "{}",
                "no alternative is given. Write one of: none, pair, texts, lines",
            ),
            ("lines: [1", "unclosed bracket '['. See docs for"),
        ] {
            let problem = choice(text).expect_err("refused");
            let place = if refusal.starts_with("2:") {
                "f:"
            } else {
                "f:1: "
            };
            assert!(
                problem.starts_with(&format!("{place}{refusal}")),
                "{text}: {problem}"
            );
        }
    }

    #[test]
    fn lines_of_keys_in_lists() {
        let text = "schema: x\nflows:\n  # two\n  - {direction: dl, cc: reno}\n\n  - direction: ul\n    ue: 2\nprograms:\n- ue: 3\n- - 4\nue: 5\n";
        for (key, line) in [
            ("flows", Some(2)),
            ("flows[0].cc", Some(4)),
            ("flows[0].ue", Some(4)),
            ("flows[1].ue", Some(7)),
            ("flows[1].start_s", Some(6)),
            ("flows[2].ue", Some(2)),
            ("programs[0].ue", Some(9)),
            ("programs[1]", Some(10)),
            ("ports[0]", None),
        ] {
            assert_eq!(line_of(text, key), line, "{key}");
        }
        let json = "{\n \"flows\": [\n  {\"ue\": 2}],\n \"seed\": -1}";
        assert_eq!(line_of(json, "flows[0].ue"), Some(3));
        assert_eq!(line_of(json, "seed"), Some(4));
    }

    #[test]
    fn lines_of_keys_that_occur_elsewhere_too() {
        let text = "# prb: in a comment\nsummary: 'the key prb: 4'\nnoise:\n  prb: 1\nradio: &radio\n  \"duplex\":\n    prb: 2\n  prb: 3\n\
                    other: {name: x, list: [{a: 1},\n  {a: 2}]}\nprb: 5\nname: *radio\n";
        for (key, line) in [
            ("prb", Some(11)),
            ("noise.prb", Some(4)),
            ("radio.prb", Some(8)),
            ("radio.duplex.prb", Some(7)),
            ("name", Some(12)),
            ("other.list[1].a", Some(10)),
            ("other.list.a", Some(9)),
            ("other.prb", None),
            ("summary.prb", None),
            ("duplex", None),
        ] {
            assert_eq!(line_of(text, key), line, "{key}");
        }
        let json = "{\"a\": {\"seed\": 1},\n \"b\": \"seed\",\n \"seed\" : -1,\n \"c\": [{},\n  {\"seed\": 2}]}";
        for (key, line) in [
            ("seed", 3),
            ("a.seed", 1),
            ("c[1].seed", 5),
            ("c[0].seed", 4),
        ] {
            assert_eq!(line_of(json, key), Some(line), "{key}");
        }
    }
}
