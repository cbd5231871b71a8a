// SPDX-License-Identifier: Apache-2.0
//! IP addresses as text, each once, numbered in the order of their first appearance.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{DictionaryArray, StringArray};
use hashbrown::HashMap;

use crate::ip::Address;
use crate::table::Column;

/// The addresses seen so far.
#[derive(Default)]
pub struct Addresses {
    numbers: HashMap<(u8, Address), i32>,
    texts: Vec<String>,
    dictionary: Option<StringArray>,
}

impl Addresses {
    /// The number of an address of IP version `version`.
    pub fn number(&mut self, version: u8, address: Address) -> i32 {
        *self.numbers.entry((version, address)).or_insert_with(|| {
            self.texts.push(text(version, address));
            self.dictionary = None;
            self.texts.len() as i32 - 1
        })
    }

    /// Returns all of them. They are made again only when there are more than the last time.
    pub fn dictionary(&mut self) -> StringArray {
        self.dictionary
            .get_or_insert_with(|| StringArray::from_iter_values(&self.texts))
            .clone()
    }
}

/// A column of addresses by their numbers.
pub fn address_column(name: &str, numbers: Vec<i32>, addresses: &StringArray) -> Column {
    let addresses = Arc::new(addresses.clone());
    Column::new(
        name,
        DictionaryArray::<Int32Type>::new(numbers.into(), addresses),
        false,
    )
}

fn text(version: u8, address: Address) -> String {
    match version {
        4 => Ipv4Addr::new(address[0], address[1], address[2], address[3]).to_string(),
        _ => Ipv6Addr::from(address).to_string(),
    }
}
