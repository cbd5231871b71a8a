// SPDX-License-Identifier: Apache-2.0
//! Numbers that obey a rule from the moment they are read.

use serde::Deserialize;

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $valid:expr, $rule:literal, $mend:literal $(, $bound:meta)?) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[serde(try_from = "f64")]
        pub struct $name($(#[cfg_attr(test, $bound)])? f64);

        impl $name {
            /// The bare number.
            pub const fn get(self) -> f64 {
                self.0
            }
        }

        impl TryFrom<f64> for $name {
            type Error = String;

            fn try_from(value: f64) -> Result<Self, String> {
                let valid: fn(f64) -> bool = $valid;
                if valid(value) {
                    Ok(Self(value))
                } else {
                    Err(format!(concat!("{} is not ", $rule, "; ", $mend), value))
                }
            }
        }
    };
}

quantity!(
    /// A level, gain or ratio in dB (or dBm), which no radio leaves.
    Decibel,
    |value| (-300.0..=300.0).contains(&value),
    "a level between -300 and 300 dB",
    "write a finite number of dB or dBm",
    schemars(range(min = -300.0, max = 300.0))
);
quantity!(
    /// A finite number above zero.
    Positive,
    |value| value.is_finite() && value > 0.0,
    "a number above 0",
    "write a finite number greater than 0",
    schemars(extend("exclusiveMinimum" = 0))
);
quantity!(
    /// A finite number, zero or above.
    NonNegative,
    |value| value.is_finite() && value >= 0.0,
    "a number of 0 or above",
    "write a finite number that is not negative",
    schemars(range(min = 0.0))
);
quantity!(
    /// A share between 0 and 1.
    Ratio,
    |value| (0.0..=1.0).contains(&value),
    "a ratio between 0 and 1",
    "write 0.01 for one per cent",
    schemars(range(min = 0.0, max = 1.0))
);
