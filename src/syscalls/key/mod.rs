//! Keys and keyrings: add_key(2), request_key(2) and keyctl(2).

pub(super) mod calls;
mod keyctl;
mod strings;
