// SPDX-License-Identifier: Apache-2.0
//! A value for each direction, as it is written.

use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Both<V> {
    pub dl: V,
    pub ul: V,
}
