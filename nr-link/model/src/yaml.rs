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

/// Finds the line of the key with this path: each part of the path is searched after the one before it,
/// and within the entry where a part has an index, as in `flows[1].ue`. A key that the entry does not
/// have is on the entry's line.
fn line_of(text: &str, key: &str) -> Option<u64> {
    let mut at = 0;
    let mut end = text.len();
    let mut in_entry = false;
    for part in key.split('.') {
        let (name, index) = match part.strip_suffix(']').and_then(|part| part.split_once('[')) {
            Some((name, index)) => (name, Some(index.parse().ok()?)),
            None => (part, None),
        };
        match find_key(&text[at..end], name) {
            Some(found) => at += found,
            None if in_entry => break,
            None => return None,
        }
        if let Some(index) = index {
            let Some((begin, length)) = entry(&text[at..end], index) else {
                break; // A list between brackets.
            };
            at += begin;
            end = at + length;
            in_entry = true;
        }
    }
    Some(text[..at].matches('\n').count() as u64 + 1)
}

/// Finds an entry of the list whose key begins `text`: one that has `- ` on lines of its own. Returns
/// its begin and length.
fn entry(text: &str, index: usize) -> Option<(usize, usize)> {
    let mut at = 0;
    let mut indent = None;
    let mut begins = Vec::new();
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let content = line.trim_start();
        let before = line.len() - content.len();
        let is_entry = content.starts_with("- ") || content.trim_end() == "-";
        if number > 0 && !content.is_empty() && !content.starts_with('#') {
            if is_entry && indent.is_none_or(|indent| indent == before) {
                indent = Some(before);
                begins.push(at + before);
            } else if indent.is_none_or(|indent| before <= indent) {
                break;
            }
        }
        at += line.len();
    }
    let begin = *begins.get(index)?;
    Some((begin, begins.get(index + 1).copied().unwrap_or(at) - begin))
}

/// Finds where `key:`, or JSON's `"key":`, begins as a whole word.
fn find_key(text: &str, key: &str) -> Option<usize> {
    text.match_indices(key)
        .filter(|(at, _)| {
            let after = &text[at + key.len()..];
            after.starts_with(':') || after.starts_with("\":")
        })
        .map(|(at, _)| at)
        .find(|&at| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
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
        assert_eq!(line_of(json, "flows[0].ue"), Some(2));
        assert_eq!(line_of(json, "seed"), Some(4));
    }
}
