//! The `parton` command: arguments → work → what to say → exit code.

mod commands;
mod exit;
mod input;
mod job;
mod options;
mod plot;
mod show;
mod signals;
mod watch;

use std::num::NonZeroUsize;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use exit::{Done, Failure};

/// Graph analytics for graphs that outgrow one processor.
#[derive(Parser)]
#[command(version, arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 ok, 2 usage, 3 a run ended before its values were final, \
                        65 bad data, 66 no input, 69 a host was lost, 70 a bug in Parton, \
                        74 input or output failed, 130 and 143 signals.")]
struct Arguments {
    #[command(subcommand)]
    command: Command,

    /// Threads to use, in `run` and `bench` those of each host [default: all cores, shared by the hosts]
    #[arg(long, global = true, value_name = "T")]
    threads: Option<NonZeroUsize>,

    /// No progress and no notes on standard error
    #[arg(long, short, global = true)]
    quiet: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Run an algorithm on a graph that is cut over hosts
    Run(commands::run::Run),
    /// Show what a graph looks like: sizes, degrees, loops, duplicates, weights
    Inspect(commands::inspect::Inspect),
    /// Read a graph in one format and write it in another
    Convert(commands::convert::Convert),
    /// Make a graph and write it to a file
    Generate(commands::generate::Generate),
    /// Cut a graph over hosts and say how good the cut is
    Partition(commands::partition::Partition),
    /// Measure algorithms on graphs, by engines and numbers of hosts; or compare two measurements
    Bench(commands::bench::Bench),
    /// List the algorithms, engines, policies, file formats and generators Parton knows
    List(commands::list::List),
}

impl Command {
    fn run(self, watch: &watch::Watch, threads: Option<NonZeroUsize>) -> Result<Done, Failure> {
        Ok(match self {
            Command::Run(run) => run.run(watch, threads)?,
            Command::Inspect(inspect) => inspect.run(watch)?.into(),
            Command::Convert(convert) => convert.run(watch)?.into(),
            Command::Generate(generate) => generate.run(watch)?.into(),
            Command::Partition(partition) => partition.run(watch)?.into(),
            Command::Bench(bench) => bench.run(watch, threads)?.into(),
            Command::List(list) => list.run().into(),
        })
    }
}

fn main() -> ExitCode {
    let Arguments { command, threads, quiet } = Arguments::parse();
    if let Err(error) = signals::end_cleanly() {
        return Failure::io(format!("cannot listen to signals: {error}")).report();
    }
    if let Some(threads) = threads {
        let groups = match &command {
            Command::Run(run) => run.hosts(),
            Command::Bench(bench) => bench.most_hosts(),
            _ => 1,
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.get() * groups);
        if let Err(error) = pool.build_global() {
            return Failure::io(format!("cannot start {threads} threads: {error}")).report();
        }
    }
    let watch = watch::Watch::new(quiet);
    let outcome = command.run(&watch, threads);
    watch.finish();
    match outcome {
        Ok(done) => done.print(),
        Err(failure) => failure.report(),
    }
}
