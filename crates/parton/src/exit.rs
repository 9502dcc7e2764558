//! How the command ends: what it prints last and with which code. The codes are a contract.

use std::io::{self, Write};
use std::process::ExitCode;

use parton::graph::Error;

const USAGE: u8 = 2;
const BAD_DATA: u8 = 65;
const NO_INPUT: u8 = 66;
const HOST_LOST: u8 = 69;
const BUG: u8 = 70;
const IO: u8 = 74;

/// What went wrong, and the code that says so.
pub(crate) struct Failure {
    message: String,
    code: u8,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match error {
            Error::NoInput { .. } => NO_INPUT,
            Error::Io { .. } => IO,
            Error::Data { .. } => BAD_DATA,
            Error::Request(_) => USAGE,
            _ => BUG,
        };
        Failure { message: error.to_string(), code }
    }
}

impl Failure {
    /// The user asked for something that cannot be.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Failure { message: message.into(), code: USAGE }
    }

    /// Reading or writing failed.
    pub(crate) fn io(message: impl Into<String>) -> Self {
        Failure { message: message.into(), code: IO }
    }

    /// A host is gone or silent.
    pub(crate) fn host_lost(message: impl Into<String>) -> Self {
        Failure { message: message.into(), code: HOST_LOST }
    }

    /// Parton's own fault.
    pub(crate) fn bug(message: impl Into<String>) -> Self {
        Failure { message: message.into(), code: BUG }
    }

    /// Prints the message and ends with the code.
    pub(crate) fn report(&self) -> ExitCode {
        // When even standard error is closed there is nobody left to tell.
        let _ = writeln!(io::stderr(), "parton: {}", self.message);
        ExitCode::from(self.code)
    }
}

/// Prints the result; a reader that went away early (`| head`) has got all it wanted.
pub(crate) fn print(text: &str) -> ExitCode {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Failure::io(format!("standard output: cannot write: {e}")).report()
        }
        _ => ExitCode::SUCCESS,
    }
}
