// SPDX-License-Identifier: Apache-2.0
//! Numbers as decimal text, digit for digit as [`std::fmt`] writes them, in less time: they are most of what a row of
//! samples costs.

/// Numbers from here on have too many digits for the integers below.
const LARGE: f64 = (1u64 << 40) as f64;
const FRACTION_BITS: u32 = f64::MANTISSA_DIGITS - 1;
/// The exponent of a significand's lowest bit, in the representation of a number.
const EXPONENT_BIAS: u32 = 1023 + FRACTION_BITS;

/// Appends a whole number.
pub fn append_whole(text: &mut Vec<u8>, number: u64) {
    append_digits(text, number, 1);
}

/// Appends a number with this many decimals, at most 6, rounded to the nearest and, halfway, to the even digit.
pub fn append_fixed(text: &mut Vec<u8>, number: f64, decimals: u32) {
    let magnitude = number.abs();
    if magnitude.is_nan() || magnitude >= LARGE {
        let formatted = format!("{number:.*}", decimals as usize);
        return text.extend_from_slice(formatted.as_bytes());
    }
    if number.is_sign_negative() {
        text.push(b'-');
    }
    let unit = 10u64.pow(decimals);
    let units = rounded(magnitude, unit);
    append_digits(text, units / unit, 1);
    if decimals > 0 {
        text.push(b'.');
        append_digits(text, units % unit, decimals as usize);
    }
}

/// Returns `magnitude` in units of 1/`unit`, which needs no rounding but the last.
fn rounded(magnitude: f64, unit: u64) -> u64 {
    let bits = magnitude.to_bits();
    let exponent = (bits >> FRACTION_BITS) as u32;
    let below_point = EXPONENT_BIAS - exponent;
    if below_point >= u128::BITS {
        return 0; // far below half a unit, as all numbers without a leading 1 are
    }
    let significand = bits & ((1 << FRACTION_BITS) - 1) | 1 << FRACTION_BITS;
    let exact = u128::from(significand) * u128::from(unit);
    let (whole, rest) = (exact >> below_point, exact & ((1 << below_point) - 1));
    let half = 1 << (below_point - 1);
    let up = rest > half || rest == half && whole & 1 == 1;
    whole as u64 + u64::from(up)
}

/// Appends the digits of a number, at least `least` of them.
fn append_digits(text: &mut Vec<u8>, mut number: u64, least: usize) {
    let mut digits = [b'0'; 20];
    let mut first = digits.len();
    while number > 0 || digits.len() - first < least {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    text.extend_from_slice(&digits[first..]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fixed(number: f64, decimals: u32) -> String {
        let mut text = Vec::new();
        append_fixed(&mut text, number, decimals);
        String::from_utf8(text).unwrap()
    }

    fn assert_as_std(number: f64) {
        for decimals in 0..=6 {
            let expected = format!("{number:.*}", decimals as usize);
            assert_eq!(fixed(number, decimals), expected, "{number:e}");
        }
    }

    #[test]
    fn halves_and_the_limits_of_numbers_are_written_as_std_does() {
        for quarter in 0..4096 {
            assert_as_std(f64::from(quarter) / 4.0);
            assert_as_std(f64::from(quarter) / -1024.0);
        }
        let limits = [0.0, -0.0, 5e-324, 1e-300, 9.999_999_5, LARGE - 0.5, LARGE];
        for number in limits
            .into_iter()
            .chain([f64::MAX, f64::INFINITY, f64::NAN])
        {
            assert_as_std(number);
            assert_as_std(-number);
        }
    }

    proptest! {
        #[test]
        fn any_number_is_written_as_std_does(number: f64, near in -1e9f64..1e9, whole: u64) {
            assert_as_std(number);
            assert_as_std(near);
            assert_as_std(near * 1e-9);
            let mut text = Vec::new();
            append_whole(&mut text, whole);
            prop_assert_eq!(String::from_utf8(text).unwrap(), whole.to_string());
        }
    }
}
