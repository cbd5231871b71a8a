// SPDX-License-Identifier: Apache-2.0
//! Numbers that obey a rule, which is checked on reading.

use serde::{Deserialize, Serialize};

use crate::problem::Violation;

/// A rate above that of any interface.
pub(crate) const MOST_MBPS: f64 = 1e6;

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $valid:expr, $rule:literal, $fix:literal, $bounds:tt) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Deserialize, Serialize)]
        #[serde(try_from = "f64")]
        pub struct $name(f64);

        impl $name {
            /// Returns the number.
            pub const fn get(self) -> f64 {
                self.0
            }

            /// Makes the quantity if the number obeys the rule.
            ///
            /// # Errors
            /// The number does not obey the rule.
            pub fn new(value: f64) -> Result<Self, Violation> {
                let valid: fn(f64) -> bool = $valid;
                if valid(value) {
                    Ok(Self(value))
                } else {
                    Err(Violation::new(format!(concat!("{} is not ", $rule), value), $fix))
                }
            }
        }

        impl TryFrom<f64> for $name {
            type Error = String;

            fn try_from(value: f64) -> Result<Self, String> {
                Self::new(value).map_err(|violation| violation.as_serde_message())
            }
        }

                impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let mut schema = schemars::json_schema!($bounds);
                schema.insert("type".into(), "number".into());
                schema.insert("description".into(), concat!("Must be ", $rule, ".").into());
                schema
            }
        }
    };
}

quantity!(
    /// A level, gain or ratio in dB or dBm, within the range of real radios.
    Decibel,
    |value| (-300.0..=300.0).contains(&value),
    "a level between -300 and 300 dB",
    "Write a number of dB or dBm in that range",
    {"minimum": -300, "maximum": 300}
);
quantity!(
    /// A finite number above zero.
    Positive,
    |value| value.is_finite() && value > 0.0,
    "a number above 0",
    "Write a finite number greater than 0",
    {"exclusiveMinimum": 0}
);
quantity!(
    /// A finite number, zero or above.
    NonNegative,
    |value| value.is_finite() && value >= 0.0,
    "a number of 0 or above",
    "Write a finite number that is not negative",
    {"minimum": 0}
);
quantity!(
    /// A ratio between 0 and 1.
    Ratio,
    |value| (0.0..=1.0).contains(&value),
    "a ratio between 0 and 1",
    "Write, for example, 0.01 for one per cent",
    {"minimum": 0, "maximum": 1}
);
quantity!(
    /// A loss or a standard deviation, dB.
    Loss,
    |value| (0.0..=300.0).contains(&value),
    "a number of dB between 0 and 300",
    "Write a finite number that is not negative",
    {"minimum": 0, "maximum": 300}
);
quantity!(
    /// The delay of a propagation path, ns. Light travels 30 km in the largest, 0.1 ms.
    Delay,
    |value| (0.0..=1e5).contains(&value),
    "a delay between 0 and 100000 ns",
    "Write the delay in nanoseconds",
    {"minimum": 0, "maximum": 100_000}
);
quantity!(
    /// A ratio in per cent, above 0.
    Percent,
    |value| value > 0.0 && value <= 100.0,
    "a percentage above 0 and up to 100",
    "Write, for example, 3.5 for 3.5 %",
    {"exclusiveMinimum": 0, "maximum": 100}
);
