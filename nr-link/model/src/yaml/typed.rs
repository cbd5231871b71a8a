// SPDX-License-Identifier: Apache-2.0
//! Reads types from the tree of a YAML file.

use std::slice;
use std::str::FromStr;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_saphyr::Spanned;

use super::lined::LINED;
use super::refusal::Refusal;
use super::tree::{Content, Node};
use crate::problem::violation;

/// A node as a value of the type that a visitor makes; `text` is the whole file.
#[derive(Clone, Copy)]
pub(super) struct Typed<'a> {
    pub node: &'a Node,
    pub text: &'a str,
}

impl<'a> Typed<'a> {
    /// Reads the node as what `seed` makes of it.
    pub(super) fn read<S: DeserializeSeed<'a>>(self, seed: S) -> Result<S::Value, Refusal> {
        let line = self.node.referenced.line();
        seed.deserialize(self)
            .map_err(|refusal| refusal.in_line(line))
    }

    fn of(self, node: &'a Node) -> Self {
        Self { node, ..self }
    }

    /// Returns a text, and of a number or truth value what is written.
    fn word(self) -> Option<&'a str> {
        match &self.node.value {
            Content::Text(text) => Some(text),
            Content::Bool(_) | Content::Whole(_) | Content::Real(_) => {
                let span = self.node.defined.span();
                let begin = span.byte_offset()? as usize;
                self.text.get(begin..begin + span.byte_len()? as usize)
            }
            Content::Null | Content::List(_) | Content::Group(_) => None,
        }
    }

    fn real(self) -> Option<f64> {
        match &self.node.value {
            Content::Whole(value) => Some(*value as f64),
            Content::Real(value) => Some(*value),
            Content::Text(text) => not_finite(text).or_else(|| in_quotes(text)),
            _ => None,
        }
    }

    fn whole<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Refusal> {
        let value: Option<i128> = match &self.node.value {
            Content::Whole(value) => Some(*value),
            Content::Text(text) => in_quotes(text),
            _ => None,
        };
        match value.map(|value| (u64::try_from(value), i64::try_from(value))) {
            Some((Ok(value), _)) => visitor.visit_u64(value),
            Some((_, Ok(value))) => visitor.visit_i64(value),
            _ => Err(not("a whole number")),
        }
    }

    fn list<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Refusal> {
        let items = match &self.node.value {
            Content::List(items) => items.as_slice(),
            Content::Null => &[],
            _ => return Err(Refusal::new("the value is not a list")),
        };
        let mut left = Items {
            of: self,
            left: items.iter(),
        };
        let value = visitor.visit_seq(&mut left)?;
        match left.left.next() {
            None => Ok(value),
            Some(_) => Err(Refusal::new(format!(
                "the list has {} values, which are too many",
                items.len()
            ))),
        }
    }

    fn group<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Refusal> {
        let entries = match &self.node.value {
            Content::Group(entries) => entries.as_slice(),
            Content::Null => &[],
            _ => return Err(Refusal::new("the value is not a mapping")),
        };
        let mut left = Entries {
            of: self,
            left: entries.iter(),
            value: None,
        };
        let read = visitor.visit_map(&mut left);
        // A key that is missing belongs after the last one.
        let line = entries
            .last()
            .map_or(self.node.referenced.line(), |(key, _)| {
                key.referenced.line()
            });
        read.map_err(|refusal| refusal.in_line(line))
    }

    fn alternative<V: Visitor<'a>>(self, known: &[&str], visitor: V) -> Result<V::Value, Refusal> {
        if let Some(word) = self.word() {
            return visitor.visit_enum(word.into_deserializer());
        }
        let Content::Group(entries) = &self.node.value else {
            return Err(not(&format!("one of {}", known.join(", "))));
        };
        let Some((key, node)) = entries.first() else {
            let known = known.join(", ");
            return Err(violation!("no alternative is given", "Write one of: {known}").into());
        };
        let value = visitor.visit_enum(Alternative {
            key: &key.value,
            value: self.of(node),
        })?;
        match entries.get(1) {
            None => Ok(value),
            Some((second, _)) => Err(Refusal::from(violation!(
                "several alternatives are given, and only one is allowed",
                "Keep one of them"
            ))
            .in_line(second.referenced.line())
            .under(&key.value)),
        }
    }
}

/// Returns a number that is not finite, by its name in YAML.
fn not_finite(text: &str) -> Option<f64> {
    match text {
        ".nan" => Some(f64::NAN),
        ".inf" => Some(f64::INFINITY),
        "-.inf" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// Returns the number that a text is. Programs that take 1e-05 for a text, as those of YAML 1.1 do, write it in quotes.
fn in_quotes<N: FromStr>(text: &str) -> Option<N> {
    let of_a_number = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    text.bytes()
        .all(of_a_number)
        .then(|| text.parse().ok())
        .flatten()
}

/// Makes the refusal of a value that is not what is wanted.
fn not(wanted: &str) -> Refusal {
    violation!("the value is not {wanted}", "Write {wanted}").into()
}

macro_rules! whole_numbers {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Refusal> {
            let read = self.whole(visitor);
            read.map_err(|_| not("a whole number in the allowed range"))
        })*
    };
}

impl<'a> Deserializer<'a> for Typed<'a> {
    type Error = Refusal;

    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Refusal> {
        match &self.node.value {
            Content::Null => visitor.visit_unit(),
            Content::Bool(value) => visitor.visit_bool(*value),
            Content::Whole(_) => self.whole(visitor),
            Content::Real(value) => visitor.visit_f64(*value),
            Content::Text(text) if not_finite(text).is_some() => {
                Err(violation!("{text} is not a finite number", "Write a finite number").into())
            }
            Content::Text(text) => visitor.visit_borrowed_str(text),
            Content::List(_) => self.list(visitor),
            Content::Group(_) => self.group(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Refusal> {
        match self.node.value {
            Content::Bool(value) => visitor.visit_bool(value),
            _ => Err(not("true or false")),
        }
    }

    whole_numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }

    fn deserialize_f32<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Refusal> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_f64(self.real().ok_or_else(|| not("a number"))?)
    }

    fn deserialize_str<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_borrowed_str(self.word().ok_or_else(|| not("a text"))?)
    }

    fn deserialize_string<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Refusal> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Refusal> {
        match self.node.value {
            Content::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'a>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Refusal> {
        self.list(visitor)
    }

    fn deserialize_tuple<V: Visitor<'a>>(
        self,
        _length: usize,
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        self.list(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'a>>(
        self,
        name: &'static str,
        _length: usize,
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        if name == LINED {
            let line = Some(self.node.referenced.line());
            visitor.visit_seq(LineThenValue { line, value: self })
        } else {
            self.list(visitor)
        }
    }

    fn deserialize_map<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Refusal> {
        self.group(visitor)
    }

    fn deserialize_struct<V: Visitor<'a>>(
        self,
        _name: &'static str,
        _keys: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        self.group(visitor)
    }

    fn deserialize_enum<V: Visitor<'a>>(
        self,
        _name: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        self.alternative(known, visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! { <W: Visitor<'a>> i128 u128 char bytes byte_buf unit unit_struct identifier }
}

/// The items of a list that are left.
struct Items<'a> {
    of: Typed<'a>,
    left: slice::Iter<'a, Node>,
}

impl<'a> SeqAccess<'a> for Items<'a> {
    type Error = Refusal;

    fn next_element_seed<S: DeserializeSeed<'a>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Refusal> {
        let item = self.left.next();
        item.map(|item| self.of.of(item).read(seed)).transpose()
    }
}

struct LineThenValue<'a> {
    line: Option<u64>,
    value: Typed<'a>,
}

impl<'a> SeqAccess<'a> for LineThenValue<'a> {
    type Error = Refusal;

    fn next_element_seed<S: DeserializeSeed<'a>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Refusal> {
        match self.line.take() {
            Some(line) => seed.deserialize(line.into_deserializer()).map(Some),
            None => self.value.read(seed).map(Some),
        }
    }
}

/// The entries of a group that are left, and the one whose value is next.
struct Entries<'a> {
    of: Typed<'a>,
    left: slice::Iter<'a, (Spanned<String>, Node)>,
    value: Option<(&'a str, &'a Node)>,
}

impl<'a> MapAccess<'a> for Entries<'a> {
    type Error = Refusal;

    fn next_key_seed<S: DeserializeSeed<'a>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Refusal> {
        let Some((key, value)) = self.left.next() else {
            return Ok(None);
        };
        self.value = Some((&key.value, value));
        let read = seed.deserialize(key.value.as_str().into_deserializer());
        let read = read
            .map_err(|refusal: Refusal| refusal.in_line(key.referenced.line()).under(&key.value));
        read.map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'a>>(&mut self, seed: S) -> Result<S::Value, Refusal> {
        let (key, node) = self.value.take().expect("a key comes before its value");
        let read = self.of.of(node).read(seed);
        read.map_err(|refusal| refusal.under(key))
    }
}

/// An alternative that is written as a key with its value.
struct Alternative<'a> {
    key: &'a str,
    value: Typed<'a>,
}

impl<'a> EnumAccess<'a> for Alternative<'a> {
    type Error = Refusal;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'a>>(self, seed: S) -> Result<(S::Value, Self), Refusal> {
        let word: StrDeserializer<'_, Refusal> = self.key.into_deserializer();
        Ok((seed.deserialize(word)?, self))
    }
}

impl<'a> Alternative<'a> {
    fn inside<T>(&self, read: Result<T, Refusal>) -> Result<T, Refusal> {
        let line = self.value.node.referenced.line();
        read.map_err(|refusal| refusal.in_line(line).under(self.key))
    }
}

impl<'a> VariantAccess<'a> for Alternative<'a> {
    type Error = Refusal;

    fn unit_variant(self) -> Result<(), Refusal> {
        match self.value.node.value {
            Content::Null => Ok(()),
            _ => self.inside(Err(violation!(
                "this alternative has no value",
                "Write the word alone"
            )
            .into())),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'a>>(self, seed: S) -> Result<S::Value, Refusal> {
        self.inside(self.value.read(seed))
    }

    fn tuple_variant<V: Visitor<'a>>(
        self,
        _length: usize,
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        self.inside(self.value.list(visitor))
    }

    fn struct_variant<V: Visitor<'a>>(
        self,
        _keys: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        self.inside(self.value.group(visitor))
    }
}
