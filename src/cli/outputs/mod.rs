//! Files that cgemu writes: found before the program runs, and held open, so that nothing that the
//! program does to names and directories meanwhile leads them elsewhere.

mod leftovers;
mod out_file;
mod place;
mod stream;
mod temporary;

pub(super) use out_file::{OutFile, Outputs};
pub(super) use place::GuestWritable;
