// SPDX-License-Identifier: Apache-2.0
//! Reading of a YAML file into a type. A problem has the file, line and key.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde_path_to_error::{Segment, Track};
use serde_saphyr::Error;

use crate::problem::{Place, Problem, Violation, violation};

/// Reads the text of `file`; `reference` is the document that describes its keys.
///
/// # Errors
/// The text is not YAML, or not of this type.
pub fn read<T: DeserializeOwned>(text: &str, file: &Path, reference: &str) -> Result<T, Problem> {
    let mut track = Track::new();
    let read = serde_saphyr::with_deserializer_from_str(text, |deserializer| {
        T::deserialize(serde_path_to_error::Deserializer::new(
            deserializer,
            &mut track,
        ))
    });
    read.map_err(|error| {
        let error = error.without_snippet();
        let Violation { rule, fix } = violation_of(error, reference);
        Problem {
            place: Place {
                file: Some(file.to_owned()),
                line: error.location().map(|location| location.line()),
                key: key(&track.path()),
            },
            rule,
            fix,
        }
    })
}

/// Returns the path of a key without indices of lists, since the line identifies the entry, and
/// without the key `value` of [`serde_saphyr::Spanned`], which files do not have.
fn key(path: &serde_path_to_error::Path) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    let mut in_list = false;
    for segment in path.iter() {
        match segment {
            Segment::Map { key } if in_list && key == "value" => {}
            Segment::Map { key } => names.push(key),
            Segment::Enum { variant } => names.push(variant),
            Segment::Seq { .. } | Segment::Unknown => {}
        }
        in_list = matches!(segment, Segment::Seq { .. });
    }
    (!names.is_empty()).then(|| names.join("."))
}

/// Rewrites an error of the YAML library for the author of a file.
fn violation_of(error: &Error, reference: &str) -> Violation {
    match error {
        Error::Message { msg, .. } => Violation::from_serde_message(msg)
            .unwrap_or_else(|| violation!("{msg}", "See {reference} for the form of each key")),
        Error::SerdeUnknownField {
            field, expected, ..
        } => {
            let known = expected.join(", ");
            violation!(
                "unknown key {field:?}",
                "Correct or remove it; the keys here are {known}"
            )
        }
        Error::SerdeUnknownVariant {
            variant, expected, ..
        } => {
            let known = expected.join(", ");
            violation!("unknown value {variant:?}", "Choose one of: {known}")
        }
        Error::InvalidScalar { ty, .. } => {
            let wanted = match *ty {
                "floating point" => "a number",
                "boolean" => "true or false",
                _ => "a whole number in the allowed range",
            };
            violation!("the value is not {wanted}", "Write {wanted}")
        }
        Error::SerdeMissingField { field, .. } => {
            violation!("the key {field} is missing", "Add it to this group of keys")
        }
        Error::DuplicateMappingKey { key, .. } => {
            let key = key.as_deref().unwrap_or_default();
            violation!("the key {key} occurs twice", "Keep one of them")
        }
        Error::NonFiniteFloat { value, .. } => {
            violation!("{value} is not a finite number", "Write a finite number")
        }
        Error::ExpectedMappingEndAfterEnumVariantValue { .. } => {
            violation!(
                "several alternatives are given, and only one is allowed",
                "Keep one of them"
            )
        }
        other => {
            let message = other.to_string();
            // The library repeats the location at the end of its message.
            let rule = message
                .rsplit_once(" at line ")
                .map_or(message.as_str(), |(rule, _)| rule);
            let rule = match rule {
                "expected mapping start" => "the value is not a mapping",
                "expected sequence start" => "the value is not a list",
                other => other,
            };
            violation!("{rule}", "See {reference} for the form of each key")
        }
    }
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
    use super::*;

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
