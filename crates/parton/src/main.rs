//! The `parton` command: arguments → work → what to say → exit code.

mod commands;
mod exit;
mod input;
mod show;
mod watch;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Graph analytics for graphs that outgrow one processor.
#[derive(Parser)]
#[command(version, arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 ok, 2 usage, 65 bad data, 66 no input, 70 a bug in Parton, \
                        74 input or output failed, 130 and 143 signals.")]
struct Arguments {
    #[command(subcommand)]
    command: Command,

    /// Threads to use [default: all cores]
    #[arg(long, global = true, value_name = "T")]
    threads: Option<std::num::NonZeroUsize>,

    /// No progress and no notes on standard error
    #[arg(long, short, global = true)]
    quiet: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Show what a graph looks like: sizes, degrees, loops, duplicates, weights
    Inspect(commands::inspect::Inspect),
    /// Read a graph in one format and write it in another
    Convert(commands::convert::Convert),
    /// Make a graph and write it to a file
    Generate(commands::generate::Generate),
    /// List the file formats and generators Parton knows
    List(commands::list::List),
}

fn main() -> ExitCode {
    let Arguments { command, threads, quiet } = Arguments::parse();
    if let Some(threads) = threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.get());
        if let Err(error) = pool.build_global() {
            return exit::fail(&format!("cannot start {threads} threads: {error}"), exit::IO);
        }
    }
    let watch = watch::Watch::new(quiet);
    let outcome = match command {
        Command::Inspect(inspect) => inspect.run(&watch),
        Command::Convert(convert) => convert.run(&watch),
        Command::Generate(generate) => generate.run(&watch),
        Command::List(list) => list.run(),
    };
    watch.finish();
    match outcome {
        Ok(text) => exit::print(&text),
        Err(error) => exit::fail(&error.to_string(), exit::code_of(&error)),
    }
}
