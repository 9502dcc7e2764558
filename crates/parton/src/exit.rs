//! How the command ends: what it prints last and with which code. The codes are a contract.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use parton::graph::Error;
use parton::net::LaunchError;
use parton::{algorithms, net, partition, sync};

const USAGE: u8 = 2;
const NOT_CONVERGED: u8 = 3;
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

/// A command that has something to print, though not all may be well.
pub(crate) struct Done {
    /// For standard output.
    pub(crate) text: String,
    /// Why the command does not end well all the same.
    pub(crate) trouble: Option<Failure>,
}

impl From<String> for Done {
    fn from(text: String) -> Self {
        Done { text, trouble: None }
    }
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

impl From<net::Error> for Failure {
    fn from(error: net::Error) -> Self {
        let code = match error {
            net::Error::HostLost { .. }
            | net::Error::HostFinished { .. }
            | net::Error::Silent { .. } => HOST_LOST,
            _ => BUG,
        };
        Failure { message: error.to_string(), code }
    }
}

impl From<partition::Error> for Failure {
    fn from(error: partition::Error) -> Self {
        match error {
            partition::Error::Graph(error) => error.into(),
            partition::Error::Net(error) => error.into(),
            other => Failure::bug(other.to_string()),
        }
    }
}

impl From<algorithms::Error> for Failure {
    fn from(error: algorithms::Error) -> Self {
        match error {
            algorithms::Error::Sync(sync::Error::Net(error)) => error.into(),
            algorithms::Error::Request(message) => Failure::usage(message),
            algorithms::Error::Data(message) => Failure::bad_data(message),
            other => Failure::bug(other.to_string()),
        }
    }
}

impl<E: Into<Failure> + fmt::Display> From<LaunchError<E>> for Failure {
    fn from(error: LaunchError<E>) -> Self {
        match error {
            LaunchError::Failed { host, error, .. } => {
                let Failure { message, code } = error.into();
                match code {
                    HOST_LOST | BUG => Failure { message: format!("host {host}: {message}"), code },
                    // Of what is the user's, who found it does not matter.
                    _ => Failure { message, code },
                }
            }
            LaunchError::Hosts { .. } => Failure::usage(error.to_string()),
            LaunchError::Start { .. } => Failure::io(error.to_string()),
            other => Failure::bug(other.to_string()),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
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

    /// What was read is not what it should be.
    pub(crate) fn bad_data(message: impl Into<String>) -> Self {
        Failure { message: message.into(), code: BAD_DATA }
    }

    /// The run ended before its values were final.
    pub(crate) fn not_converged(message: impl Into<String>) -> Self {
        Failure { message: message.into(), code: NOT_CONVERGED }
    }

    /// Parton's own fault.
    pub(crate) fn bug(message: impl Into<String>) -> Self {
        Failure { message: message.into(), code: BUG }
    }

    /// The code to end with.
    #[cfg(test)]
    pub(crate) fn code(&self) -> u8 {
        self.code
    }

    /// Prints the message and ends with the code.
    pub(crate) fn report(&self) -> ExitCode {
        // When even standard error is closed there is nobody left to tell.
        let _ = writeln!(io::stderr(), "parton: {}", self.message);
        ExitCode::from(self.code)
    }
}

impl Done {
    /// Prints the result and ends with the code. A reader that went away early (`| head`) has got
    /// all it wanted.
    pub(crate) fn print(self) -> ExitCode {
        let mut out = io::stdout().lock();
        match out.write_all(self.text.as_bytes()).and_then(|()| out.flush()) {
            Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
                Failure::io(format!("standard output: cannot write: {e}")).report()
            }
            _ => self.trouble.map_or(ExitCode::SUCCESS, |trouble| trouble.report()),
        }
    }
}
