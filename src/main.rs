//! The `cgemu` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    cgemu::cli::main()
}
