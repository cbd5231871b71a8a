// SPDX-License-Identifier: Apache-2.0
//! Arrow tables out of vectors, which they take over without copying.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray, RecordBatch};
use arrow_buffer::NullBuffer;
use arrow_schema::{Field, Schema};

/// A named array.
pub struct Column {
    field: Field,
    array: ArrayRef,
}

impl Column {
    /// Any array.
    pub fn new(name: &str, array: impl Array + 'static, is_nullable: bool) -> Self {
        Self {
            field: Field::new(name, array.data_type().clone(), is_nullable),
            array: Arc::new(array),
        }
    }

    /// The columns of a table.
    pub fn all_of(batch: &RecordBatch) -> Vec<Self> {
        let fields = batch.schema().fields().clone();
        let columns = fields.iter().zip(batch.columns());
        columns
            .map(|(field, array)| Self {
                field: field.as_ref().clone(),
                array: array.clone(),
            })
            .collect()
    }

    /// Numbers that are always known.
    pub fn of<T: ArrowPrimitiveType>(name: &str, values: Vec<T::Native>) -> Self {
        Self::of_some::<T>(name, values, None)
    }

    /// Numbers of which only the `valid` are known; None: all.
    pub fn of_some<T: ArrowPrimitiveType>(
        name: &str,
        values: Vec<T::Native>,
        valid: Option<&NullBuffer>,
    ) -> Self {
        let array = PrimitiveArray::<T>::new(values.into(), valid.cloned());
        Self::new(name, array, valid.is_some())
    }

    /// Numbers that may be unknown.
    pub fn optional<T: ArrowPrimitiveType>(
        name: &str,
        values: impl IntoIterator<Item = Option<T::Native>>,
    ) -> Self {
        let array: PrimitiveArray<T> = values.into_iter().collect();
        Self::new(name, array, true)
    }
}

/// The columns side by side; only the `wanted` ones, if any are named.
pub fn table(columns: Vec<Column>, wanted: Option<&[String]>) -> RecordBatch {
    let is_wanted =
        |column: &Column| wanted.is_none_or(|names| names.contains(column.field.name()));
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns
        .into_iter()
        .filter(is_wanted)
        .map(|column| (column.field, column.array))
        .unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
        .expect("columns of one table have one length, and nulls only where they may")
}
