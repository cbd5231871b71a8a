// SPDX-License-Identifier: Apache-2.0
//! A value of a list with its line: rules that are checked after reading name it.

use serde::Deserialize;

/// The name under which a deserializer gives line and value.
pub(super) const LINED: &str = "nr_link_model::yaml::Lined";

/// The line where a value begins, from 1, and the value.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename = "nr_link_model::yaml::Lined")]
pub(crate) struct Lined<T>(pub u64, pub T);
