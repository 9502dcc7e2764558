//! The `parton` command: all of it is in [`parton::cli`].

fn main() -> std::process::ExitCode {
    parton::cli::main(parton::algorithms::ALL)
}
