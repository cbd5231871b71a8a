// SPDX-License-Identifier: Apache-2.0
//! Columns that few packets have a value in.

use arrow_array::{ArrowPrimitiveType, PrimitiveArray};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer};

use crate::table::Column;

/// The rows that have a value, in order, and their values: a packet without one costs nothing.
pub struct Sparse<T: ArrowPrimitiveType> {
    entries: Vec<(usize, T::Native)>,
}

impl<T: ArrowPrimitiveType> Default for Sparse<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
        }
    }
}

impl<T: ArrowPrimitiveType> Sparse<T> {
    /// Gives `row`, which is behind all rows before, its value, if it has one.
    pub fn set(&mut self, row: usize, value: Option<T::Native>) {
        if let Some(value) = value {
            self.entries.push((row, value));
        }
    }

    /// The column of `rows` rows.
    pub fn finish(self, name: &str, rows: usize) -> Column {
        if self.entries.is_empty() {
            return Column::new(name, PrimitiveArray::<T>::new_null(rows), true);
        }
        let mut values = vec![T::Native::default(); rows];
        let mut valid = BooleanBufferBuilder::new(rows);
        valid.append_n(rows, false);
        for (row, value) in self.entries {
            values[row] = value;
            valid.set_bit(row, true);
        }
        Column::of_some::<T>(name, values, Some(&NullBuffer::new(valid.finish())))
    }
}
