// SPDX-License-Identifier: Apache-2.0
//! The text of one event: a record of JSON-SEQ (RFC 7464).

use std::time::Duration;

use crate::{put_milliseconds, put_number};

/// The byte before each record.
pub const SEPARATOR: u8 = 0x1e;

/// The text of an event, whose memory serves the next one too.
#[derive(Debug, Default)]
pub struct Record {
    text: Vec<u8>,
    /// Whether the next member of the object is not its first.
    follows: bool,
}

impl Record {
    /// Begins an event, `since` the log's reference time, with its data open.
    pub fn begin(&mut self, since: Duration, name: &str) {
        self.text.clear();
        self.text.push(SEPARATOR);
        self.text.extend_from_slice(b"{\"time\":");
        put_milliseconds(&mut self.text, since);
        self.text.extend_from_slice(b",\"name\":\"");
        self.text.extend_from_slice(name.as_bytes());
        self.text.extend_from_slice(b"\",\"data\":{");
        self.follows = false;
    }

    /// Closes data and event, which may belong to a connection; returns the text with its end of line.
    pub fn end(&mut self, group: Option<&str>) -> &[u8] {
        self.text.push(b'}');
        self.follows = true;
        if let Some(group) = group {
            self.word("group_id", group);
        }
        self.text.extend_from_slice(b"}\n");
        &self.text
    }

    /// Adds a number, if there is one.
    pub fn number(&mut self, key: &str, number: Option<impl Into<u64>>) {
        if let Some(number) = number {
            self.key(key);
            put_number(&mut self.text, number.into());
        }
    }

    /// Adds a time in milliseconds, if there is one.
    pub fn milliseconds(&mut self, key: &str, time: Option<Duration>) {
        if let Some(time) = time {
            self.key(key);
            put_milliseconds(&mut self.text, time);
        }
    }

    /// Adds a word, which JSON need not escape.
    pub fn word(&mut self, key: &str, word: &str) {
        self.key(key);
        self.text.push(b'"');
        self.text.extend_from_slice(word.as_bytes());
        self.text.push(b'"');
    }

    /// Adds an object with the members that `put` adds.
    pub fn object(&mut self, key: &str, put: impl FnOnce(&mut Self)) {
        self.key(key);
        self.within(b'{', b'}', put);
    }

    /// Adds the lengths of datagrams: `raw`, a list of objects.
    pub fn lengths(&mut self, lengths: impl Iterator<Item = usize>) {
        self.key("raw");
        self.within(b'[', b']', |list| {
            for length in lengths {
                list.separate();
                list.within(b'{', b'}', |one| one.number("length", Some(length as u64)));
            }
        });
    }

    fn within(&mut self, open: u8, close: u8, put: impl FnOnce(&mut Self)) {
        self.text.push(open);
        self.follows = false;
        put(self);
        self.text.push(close);
        self.follows = true;
    }

    fn key(&mut self, key: &str) {
        self.separate();
        self.text.push(b'"');
        self.text.extend_from_slice(key.as_bytes());
        self.text.extend_from_slice(b"\":");
    }

    fn separate(&mut self) {
        if self.follows {
            self.text.push(b',');
        }
        self.follows = true;
    }
}
