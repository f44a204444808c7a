//! Keys and keyrings, keyrings(7): what keyctl(2) and its like work with. No program is ever asked
//! to make a key: what is not there is not found.

pub(crate) mod key;
pub(crate) mod lookup;
mod ownership;
pub(crate) mod search;
pub(crate) mod table;
