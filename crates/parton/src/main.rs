//! The `parton` command: arguments → work → what to say → exit code.

mod commands;
mod exit;
mod input;
mod job;
mod options;
mod plot;
mod show;
mod signals;
mod team;
mod watch;

use std::num::NonZeroUsize;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use parton::algorithms::{self, Algorithm};

use exit::{Done, Failure};
use team::Team;

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
    /// Run the LDBC Graphalytics benchmark on one of its data sets, and check what comes out
    Graphalytics(commands::graphalytics::Graphalytics),
    /// List the algorithms, engines, policies, file formats and generators Parton knows
    List(commands::list::List),
}

impl Command {
    fn run(
        self,
        watch: &watch::Watch,
        threads: Option<NonZeroUsize>,
        team: &mut Team,
    ) -> Result<Done, Failure> {
        Ok(match self {
            Command::Run(run) => run.run(watch, threads, team)?,
            Command::Inspect(inspect) => inspect.run(watch)?.into(),
            Command::Convert(convert) => convert.run(watch)?.into(),
            Command::Generate(generate) => generate.run(watch)?.into(),
            Command::Partition(partition) => partition.run(watch, threads, team)?.into(),
            Command::Bench(bench) => bench.run(watch, threads)?.into(),
            Command::Graphalytics(graphalytics) => graphalytics.run(watch, threads)?,
            Command::List(list) => list.run(algorithms::ALL).into(),
        })
    }

    /// Hosts of this process, as far as the arguments say.
    fn hosts_here(&self, team: &Team) -> usize {
        match self {
            _ if team.is_spread() => 1,
            Command::Run(run) => run.hosts(),
            Command::Bench(bench) => bench.most_hosts(),
            Command::Graphalytics(graphalytics) => graphalytics.hosts(),
            _ => 1,
        }
    }

    /// Whether hosts of a launcher can share the work.
    fn can_be_spread(&self) -> bool {
        matches!(self, Command::Run(_) | Command::Partition(_))
    }
}

impl Arguments {
    /// The arguments of this process, with the names and options of these algorithms.
    fn parse_for(algorithms: &[&'static dyn Algorithm]) -> Result<Self, clap::Error> {
        let command = Arguments::command()
            .mut_subcommand("run", |run| options::for_algorithms(run, algorithms))
            .mut_subcommand("bench", |bench| options::for_algorithms(bench, algorithms));
        Arguments::from_arg_matches(&command.try_get_matches()?)
    }
}

fn main() -> ExitCode {
    // Before anything else: whatever goes wrong later goes wrong on all ranks.
    let mut team = match Team::assemble() {
        Ok(team) => team,
        Err(failure) => return failure.report(),
    };
    let place = team.place().clone();
    let outcome = match team.check_likeness().map(|()| Arguments::parse_for(algorithms::ALL)) {
        Ok(Ok(arguments)) => obey(arguments, &mut team),
        // Help, too, and the same on all ranks.
        Ok(Err(complaint)) => {
            if team.speaks() {
                // When even standard error is closed there is nobody left to tell.
                let _ = complaint.print();
            }
            team.part();
            return ExitCode::from(complaint.exit_code() as u8);
        }
        Err(failure) => Err(failure),
    };
    let outcome = team.together(outcome);
    let speaks = team.speaks();
    place.end_with(outcome.as_ref().map_or_else(Failure::code, Done::code));
    let code = match outcome {
        Ok(done) if speaks => done.print(),
        Ok(done) => done.silenced().print(),
        Err(failure) if failure.code() == exit::HOST_LOST => {
            // Who lost another one has said so, and is being ended.
            team.part();
            return failure.report();
        }
        Err(failure) => failure.report(),
    };
    // Not earlier: a launcher ends all ranks when one has ended with a code.
    team.part();
    code
}

/// Does what the arguments say.
fn obey(arguments: Arguments, team: &mut Team) -> Result<Done, Failure> {
    let Arguments { command, threads, quiet } = arguments;
    signals::end_cleanly(team.place().clone(), team.is_spread())
        .map_err(|error| Failure::io(format!("cannot listen to signals: {error}")))?;
    if team.is_spread() && !command.can_be_spread() {
        return Err(Failure::usage(
            "only `run` and `partition` share their work over ranks: start others without a launcher",
        ));
    }
    let watch = watch::Watch::new(quiet, team.speaks());
    if let Some(warning) = team.warning() {
        watch.warn(&warning);
    }
    let here = command.hosts_here(team);
    if threads.is_some() || team.is_spread() {
        let threads = team.threads(threads, 1) * here;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build_global()
            .map_err(|error| Failure::io(format!("cannot start {threads} threads: {error}")))?;
    }
    let outcome = command.run(&watch, threads, team);
    watch.finish();
    outcome
}
