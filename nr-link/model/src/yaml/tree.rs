// SPDX-License-Identifier: Apache-2.0
//! A YAML file as a tree, whose nodes know where they stand.
//!
//! Types are read from the tree and not from the YAML library: the library's code for a type is twenty times as long, and
//! would be compiled for each of them.

use std::fmt;

use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_saphyr::Spanned;

/// A value and where it stands.
pub(super) type Node = Spanned<Content>;

/// A value of a type that YAML knows.
#[derive(Debug)]
pub(super) enum Content {
    Null,
    Bool(bool),
    Whole(i128),
    Real(f64),
    /// A text, or a number that is not finite (`.nan`, `.inf`, `-.inf`).
    Text(String),
    List(Vec<Node>),
    /// Keys and their values.
    Group(Vec<(Spanned<String>, Node)>),
}

/// Reads the tree of `text`.
pub(super) fn read(text: &str) -> Result<Node, serde_saphyr::Error> {
    let options = serde_saphyr::options! { reject_non_finite_typeless_float: false };
    serde_saphyr::from_str_with_options(text, options)
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any)
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Content, E> {
        Ok(Content::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Content, E> {
        Ok(Content::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Content, E> {
        Ok(Content::Whole(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Content, E> {
        Ok(Content::Whole(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Content, E> {
        Ok(Content::Real(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Content, E> {
        Ok(Content::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Content, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Content::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Content, A::Error> {
        let mut group = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            group.push(entry);
        }
        Ok(Content::Group(group))
    }
}
