//! The `parton` command: arguments → work → what to say → exit code.

mod commands;
mod exit;
mod input;
mod show;
mod watch;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use exit::Failure;

/// Graph analytics for graphs that outgrow one processor.
#[derive(Parser)]
#[command(version, arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 ok, 2 usage, 65 bad data, 66 no input, 69 a host was \
                        lost, 70 a bug in Parton, \
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
    /// Cut a graph over hosts and say how good the cut is
    Partition(commands::partition::Partition),
    /// List the file formats, generators and policies Parton knows
    List(commands::list::List),
}

fn main() -> ExitCode {
    let Arguments { command, threads, quiet } = Arguments::parse();
    if let Some(threads) = threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.get());
        if let Err(error) = pool.build_global() {
            return Failure::io(format!("cannot start {threads} threads: {error}")).report();
        }
    }
    let watch = watch::Watch::new(quiet);
    let outcome = match command {
        Command::Inspect(inspect) => inspect.run(&watch).map_err(Failure::from),
        Command::Convert(convert) => convert.run(&watch).map_err(Failure::from),
        Command::Generate(generate) => generate.run(&watch).map_err(Failure::from),
        Command::Partition(partition) => partition.run(&watch),
        Command::List(list) => Ok(list.run()),
    };
    watch.finish();
    match outcome {
        Ok(text) => exit::print(&text),
        Err(failure) => failure.report(),
    }
}
