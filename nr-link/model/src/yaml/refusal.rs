// SPDX-License-Identifier: Apache-2.0
//! The refusal of a value that is not of the type that is read, with its place.

use std::fmt;

use serde::de::{self, Expected, Unexpected};

use crate::problem::{Violation, violation};

/// A rule that a value breaks, its line and its keys.
#[derive(Debug)]
pub(super) struct Refusal {
    rule: String,
    /// `None`: the document that describes the keys says it.
    fix: Option<String>,
    line: Option<u64>,
    /// The innermost key first.
    keys: Vec<String>,
}

impl Refusal {
    pub(super) fn new(rule: impl Into<String>) -> Self {
        Self {
            rule: rule.into(),
            fix: None,
            line: None,
            keys: Vec::new(),
        }
    }

    /// Sets the line if it is not known yet.
    pub(super) fn in_line(mut self, line: u64) -> Self {
        self.line.get_or_insert(line);
        self
    }

    pub(super) fn under(mut self, key: &str) -> Self {
        self.keys.push(key.to_owned());
        self
    }

    pub(super) fn line(&self) -> Option<u64> {
        self.line
    }

    /// Returns the path of the key without indices of lists, since the line identifies the entry.
    pub(super) fn key(&self) -> Option<String> {
        let names: Vec<&str> = self.keys.iter().rev().map(String::as_str).collect();
        (!names.is_empty()).then(|| names.join("."))
    }

    /// Returns what is wrong; `reference` is the document that describes the keys.
    pub(super) fn violation(self, reference: &str) -> Violation {
        let fix = self.fix;
        let fix = fix.unwrap_or_else(|| format!("See {reference} for the form of each key"));
        Violation::new(self.rule, fix)
    }
}

impl From<Violation> for Refusal {
    fn from(Violation { rule, fix }: Violation) -> Self {
        Self {
            fix: Some(fix),
            ..Self::new(rule)
        }
    }
}

impl de::Error for Refusal {
    fn custom<T: fmt::Display>(message: T) -> Self {
        let message = message.to_string();
        Violation::from_serde_message(&message).map_or_else(|| Self::new(message), Self::from)
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(format!("the value is not {expected}"))
    }

    fn unknown_field(field: &str, known: &'static [&'static str]) -> Self {
        let known = known.join(", ");
        violation!(
            "unknown key {field:?}",
            "Correct or remove it; the keys here are {known}"
        )
        .into()
    }

    fn unknown_variant(variant: &str, known: &'static [&'static str]) -> Self {
        let known = known.join(", ");
        violation!("unknown value {variant:?}", "Choose one of: {known}").into()
    }

    fn missing_field(field: &'static str) -> Self {
        violation!("the key {field} is missing", "Add it to this group of keys").into()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.rule)
    }
}

impl std::error::Error for Refusal {}
