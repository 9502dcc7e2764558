//! How the command ends: what it prints last and with which code. The codes are a contract.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use crate::graph::Error;
use crate::net::LaunchError;
use crate::{algorithms, gpu, net, partition, sync};

use crate::cli::memory;
use crate::cli::options::spelled;

const USAGE: u8 = 2;
const NOT_CONVERGED: u8 = 3;
const BAD_DATA: u8 = 65;
const NO_INPUT: u8 = 66;
pub(crate) const HOST_LOST: u8 = 69;
const BUG: u8 = 70;
pub(crate) const OUT_OF_MEMORY: u8 = 71;
pub(crate) const IO: u8 = 74;

/// Why a command failed, and the exit code for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    message: String,
    code: u8,
    /// True if another process prints it.
    silent: bool,
}

/// What a command prints, and why it may fail all the same.
pub(crate) struct CommandOutput {
    /// The text for standard output.
    pub(crate) text: String,
    /// A failure to report after the text.
    pub(crate) failure: Option<Failure>,
}

impl From<String> for CommandOutput {
    fn from(text: String) -> Self {
        CommandOutput { text, failure: None }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::NoInput { .. } => Failure::new(error.to_string(), NO_INPUT),
            Error::Io { ref source, .. } if source.kind() == io::ErrorKind::OutOfMemory => {
                Failure::out_of_memory(error.to_string())
            }
            // `| head`: the reader has seen enough, which is no failure.
            Error::Io { .. } if error.is_closed_pipe() => Failure::new(String::new(), 0).silenced(),
            Error::Io { .. } => Failure::io(error.to_string()),
            Error::Data { file, place, problem } => {
                // What is quoted from the file stays as it is.
                let problem = spelled(&problem);
                Failure::bad_data(Error::Data { file, place, problem }.to_string())
            }
            Error::Request(message) => Failure::usage(spelled(&message)),
            Error::Memory(message) => Failure::out_of_memory(message),
            _ => Failure::bug(error.to_string()),
        }
    }
}

impl From<net::Error> for Failure {
    fn from(error: net::Error) -> Self {
        let code = match error {
            net::Error::HostLost { .. }
            | net::Error::HostFinished { .. }
            | net::Error::Silent { .. }
            | net::Error::Mpi(_) => HOST_LOST,
            _ => BUG,
        };
        Failure::new(error.to_string(), code)
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
            algorithms::Error::Sync(error @ sync::Error::Device { .. }) => {
                Failure::new(error.to_string(), HOST_LOST)
            }
            algorithms::Error::Sync(error @ sync::Error::DeviceMemory { .. }) => {
                Failure::new(spelled(&error.to_string()), OUT_OF_MEMORY)
            }
            algorithms::Error::Sync(error @ sync::Error::DeviceMisfit { .. }) => {
                Failure::usage(error.to_string())
            }
            algorithms::Error::Sync(sync::Error::Graph(error)) => error.into(),
            algorithms::Error::Sync(sync::Error::Weight(error)) => {
                Failure::bad_data(error.to_string())
            }
            algorithms::Error::Request(message) => Failure::usage(spelled(&message)),
            algorithms::Error::Data(message) => Failure::bad_data(spelled(&message)),
            other => Failure::bug(spelled(&other.to_string())),
        }
    }
}

impl From<gpu::Error> for Failure {
    fn from(error: gpu::Error) -> Self {
        let code = match error {
            gpu::Error::OutOfMemory { .. }
            | gpu::Error::OutOfPinned { .. }
            | gpu::Error::DoesNotFit { .. } => OUT_OF_MEMORY,
            gpu::Error::Compile { .. } => BUG,
            _ => HOST_LOST,
        };
        Failure::new(error.to_string(), code)
    }
}

impl From<crate::Error> for Failure {
    fn from(error: crate::Error) -> Self {
        match error {
            crate::Error::Graph(error) => error.into(),
            crate::Error::Partition(error) => error.into(),
            crate::Error::Algorithm(error) => error.into(),
            crate::Error::Device(error) => error.into(),
            crate::Error::Launch(message) => Failure::bug(message),
        }
    }
}

impl<E: Into<Failure> + fmt::Display> From<LaunchError<E>> for Failure {
    fn from(error: LaunchError<E>) -> Self {
        match error {
            LaunchError::Failed { host, error, .. } => {
                let Failure { message, code, .. } = error.into();
                match code {
                    HOST_LOST | BUG => Failure::new(format!("host {host}: {message}"), code),
                    // The user's mistake is the same on whichever host found it.
                    _ => Failure::new(message, code),
                }
            }
            LaunchError::Hosts { .. } => Failure::usage(error.to_string()),
            LaunchError::Start { threads, ref source, .. } => Failure::no_threads(threads, source),
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
    fn new(message: String, code: u8) -> Self {
        Failure { message, code, silent: false }
    }

    /// The same failure, printed by another process.
    pub(crate) fn silenced(self) -> Self {
        Failure { silent: true, ..self }
    }

    /// The bytes that tell other processes of it, never empty.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        [&[self.code], self.message.as_bytes()].concat()
    }

    /// The failure that another process told of; no bytes are no failure.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (code, message) = bytes.split_first()?;
        Some(Failure::new(String::from_utf8_lossy(message).into_owned(), *code))
    }

    /// Of the failures of some hosts, with their numbers, the one that caused the others. A host
    /// that misses another one failed because of it.
    pub(crate) fn cause(failures: Vec<(usize, Failure)>, hosts: usize) -> Option<Failure> {
        let everywhere = failures.len() == hosts;
        let (first, cause) =
            failures.iter().find(|(_, failure)| failure.code != HOST_LOST).or(failures.first())?;
        let alike = failures.iter().all(|(_, failure)| failure.message == cause.message);
        if everywhere && alike || cause.message.starts_with("host ") {
            return Some(cause.clone());
        }
        Some(Failure::new(format!("host {first}: {}", cause.message), cause.code))
    }

    /// The arguments make no sense.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Failure::new(message.into(), USAGE)
    }

    /// There is not enough memory.
    pub(crate) fn out_of_memory(message: impl Into<String>) -> Self {
        Failure::new(message.into(), OUT_OF_MEMORY)
    }

    /// The system does not start this many threads.
    pub(crate) fn no_threads(threads: usize, error: &dyn fmt::Display) -> Self {
        Failure::no_thread(format!("cannot start {threads} threads: {error}"))
    }

    /// The system refuses a thread, as `message` says: for lack of memory, or for another reason.
    pub(crate) fn no_thread(message: String) -> Self {
        match memory::lacks_stacks() {
            true => {
                Failure::out_of_memory(format!("{message}: there is no memory for their stacks"))
            }
            false => Failure::io(message),
        }
    }

    /// Reading or writing failed.
    pub(crate) fn io(message: impl Into<String>) -> Self {
        Failure::new(message.into(), IO)
    }

    /// The data read are not what they should be.
    pub(crate) fn bad_data(message: impl Into<String>) -> Self {
        Failure::new(message.into(), BAD_DATA)
    }

    /// The run ended before its values were final.
    pub(crate) fn not_converged(message: impl Into<String>) -> Self {
        Failure::new(message.into(), NOT_CONVERGED)
    }

    /// A bug in Parton.
    pub(crate) fn bug(message: impl Into<String>) -> Self {
        Failure::new(message.into(), BUG)
    }

    /// The code to end with.
    pub(crate) fn code(&self) -> u8 {
        self.code
    }

    /// Prints the message and returns the code to exit with.
    pub(crate) fn report(&self) -> ExitCode {
        if !self.silent {
            say(&self.message);
        }
        ExitCode::from(self.code)
    }
}

/// Prints a message to standard error.
pub(crate) fn say(text: &str) {
    tell(&format!("parton: {text}"));
}

/// Prints a line to standard error in one write, since a launcher mixes the output of its ranks.
pub(crate) fn tell(line: &str) {
    // If even standard error is closed, the line has no reader.
    let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
}

impl CommandOutput {
    /// The same output, printed by another process.
    pub(crate) fn silenced(self) -> Self {
        CommandOutput { text: String::new(), failure: self.failure.map(Failure::silenced) }
    }

    /// The code to end with, unless printing fails.
    pub(crate) fn code(&self) -> u8 {
        self.failure.as_ref().map_or(0, Failure::code)
    }

    /// Prints the text and returns the code to exit with. A reader that closed the pipe early
    /// (`| head`) is no failure.
    pub(crate) fn print(self) -> ExitCode {
        let mut out = io::stdout().lock();
        match out.write_all(self.text.as_bytes()).and_then(|()| out.flush()) {
            Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
                Failure::io(format!("standard output: cannot write: {e}")).report()
            }
            _ => self.failure.map_or(ExitCode::SUCCESS, |failure| failure.report()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_that_miss_another_are_not_the_cause() {
        let lost = |host: usize| Failure::new(format!("host {host}: host 2 was lost"), HOST_LOST);
        let full = Failure::io("x.csv: cannot write: no space left");
        let cause = Failure::cause(vec![(0, lost(0)), (1, lost(1)), (2, full.clone())], 4);
        assert_eq!(cause, Some(Failure::io("host 2: x.csv: cannot write: no space left")));
        assert_eq!(Failure::cause(vec![(0, lost(0)), (1, lost(1))], 4), Some(lost(0)));
        let everywhere = (0..3).map(|host| (host, full.clone())).collect();
        assert_eq!(Failure::cause(everywhere, 3), Some(full.clone()));
        assert_eq!(Failure::cause(Vec::new(), 3), None);
        assert_eq!(Failure::from_bytes(&full.to_bytes()), Some(full));
        assert_eq!(Failure::from_bytes(&[]), None);
    }
}
