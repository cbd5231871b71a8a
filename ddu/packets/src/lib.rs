//! Packet reader.
