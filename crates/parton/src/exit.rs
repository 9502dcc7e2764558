//! How the command ends: what it prints last and with which code. The codes are a contract.

use std::io::{self, Write};
use std::process::ExitCode;

use parton::graph::Error;

const USAGE: u8 = 2;
const BAD_DATA: u8 = 65;
const NO_INPUT: u8 = 66;
const BUG: u8 = 70;
/// Reading or writing failed.
pub(crate) const IO: u8 = 74;

/// The exit code of an error.
pub(crate) fn code_of(error: &Error) -> u8 {
    match error {
        Error::NoInput { .. } => NO_INPUT,
        Error::Io { .. } => IO,
        Error::Data { .. } => BAD_DATA,
        Error::Request(_) => USAGE,
        _ => BUG,
    }
}

/// Prints an error and ends with `code`.
pub(crate) fn fail(message: &str, code: u8) -> ExitCode {
    // When even standard error is closed there is nobody left to tell.
    let _ = writeln!(io::stderr(), "parton: {message}");
    ExitCode::from(code)
}

/// Prints the result; a reader that went away early (`| head`) has got all it wanted.
pub(crate) fn print(text: &str) -> ExitCode {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            fail(&format!("standard output: cannot write: {e}"), IO)
        }
        _ => ExitCode::SUCCESS,
    }
}
