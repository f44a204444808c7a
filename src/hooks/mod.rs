//! From decoded instructions to counts: `count` says what each instruction costs, `plan` puts a block
//! together, the trace carries what happened, and `consumer` turns it into cache and branch outcomes.

pub mod accounts;
pub mod consumer;
pub mod count;
pub mod decode;
pub mod operand;
pub mod plan;
pub mod ring;
pub mod trace;
