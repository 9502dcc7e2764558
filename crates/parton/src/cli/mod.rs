//! The `parton` command, and the same command for algorithms of your own.
//!
//! ```no_run
//! # use parton::algorithms::bfs::Bfs as Mine;
//! /// `run mine graph.csv --hosts 4`, `bench`, `list` and all the rest.
//! fn main() -> std::process::ExitCode {
//!     parton::cli::main(&[&Mine])
//! }
//! ```
//!
//! A command goes from arguments to work to what it prints to an exit code; each is one file in
//! `commands`.

mod budget;
mod commands;
mod device_arguments;
mod exit;
mod graph_arguments;
mod graph_values;
mod input_name;
mod machine;
mod memory;
mod options;
mod origin;
mod page;
mod show;
mod signals;
mod task;
mod team;
mod watch;

use std::num::{NonZeroU16, NonZeroUsize};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::algorithms::{Algorithm, EdgeNeed, Options};
use crate::graph::nearest::{did_you_mean, nearest};
use exit::{CommandOutput, Failure};
pub use memory::out_of_memory;
use team::Team;
use watch::Watch;

/// Graph analytics for graphs that outgrow one processor.
#[derive(Parser)]
#[command(version, arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 ok, 2 usage, 3 a run ended before its values were final, \
                        65 bad data, 66 no input, 69 a host or device was lost or is not there, 70 a bug in Parton, \
                        71 out of memory, 74 input or output failed, 130 and 143 signals.")]
struct Arguments {
    #[command(subcommand)]
    command: Command,

    /// Threads to use, in `run` and `bench` those of each host [default: all cores, shared by the hosts]
    #[arg(long, global = true, value_name = "T")]
    threads: Option<NonZeroUsize>,

    /// The MPI library to load under a launcher: a path, or a name that the system finds [default:
    /// PARTON_MPI_LIBRARY, else the launcher's own]
    #[arg(long, global = true, value_name = "PATH")]
    mpi: Option<PathBuf>,

    /// No progress and no notes on standard error
    #[arg(long, short, global = true)]
    quiet: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Run an algorithm on a graph that is cut over hosts
    Run(commands::run::RunCommand),
    /// Show what a graph looks like: sizes, degrees, loops, duplicates, weights
    Inspect(commands::inspect::Inspect),
    /// Read a graph in one format and write it in another
    Convert(commands::convert::Convert),
    /// Make a graph and write it to a file
    Generate(commands::generate::Generate),
    /// Cut a graph over hosts and say how good the cut is
    Partition(commands::partition::Partition),
    /// Say what a run is going to need: memory, bytes, time; and how many hosts to choose
    Plan(commands::plan::Plan),
    /// Measure algorithms on graphs, by engines and numbers of hosts; or compare two measurements
    Bench(commands::bench::Bench),
    /// Run the LDBC Graphalytics benchmark on one of its data sets, and check what comes out
    Graphalytics(commands::graphalytics::Graphalytics),
    /// List the algorithms, engines, policies, file formats, generators and devices on offer
    List(commands::list::List),
    /// Explain a compiled program: its fields, operators, splits, and where which values travel
    Explain(commands::explain::Explain),
    /// Write a new crate with a program to start from, which has the whole command line of `run`
    New(commands::new::New),
    /// Print what a shell needs to complete commands, options and names of algorithms
    Completions(commands::completions::Completions),
    /// Write manual pages, one for each command
    Man(commands::man::Man),
}

/// What a command works with, whatever it does.
struct Context<'c> {
    /// The algorithms on offer.
    algorithms: &'c [&'static dyn Algorithm],
    /// Threads of each host, if the user says.
    threads: Option<NonZeroUsize>,
    watch: &'c Watch,
}

impl Context<'_> {
    /// The algorithms that run on any graph: few graphs are bipartite.
    fn on_any_graph(&self) -> Vec<&'static dyn Algorithm> {
        let any = |algorithm: &&'static dyn Algorithm| {
            algorithm.needs(&Options::default()).edges != EdgeNeed::Bipartite
        };
        self.algorithms.iter().copied().filter(any).collect()
    }

    /// The algorithm of that name.
    fn algorithm(&self, name: &str) -> Result<&'static dyn Algorithm, Failure> {
        let found = self.algorithms.iter().find(|algorithm| algorithm.is_called(name));
        found.copied().ok_or_else(|| {
            let known: Vec<_> = self.algorithms.iter().map(|known| known.name()).collect();
            let meant = did_you_mean(name, known.iter().copied());
            Failure::usage(format!(
                "unknown algorithm '{name}'{meant}; known are {}",
                known.join(", ")
            ))
        })
    }
}

impl Command {
    fn run(self, context: &Context<'_>, team: &mut Team) -> Result<CommandOutput, Failure> {
        Ok(match self {
            Command::Run(run) => run.run(context, team)?,
            Command::Inspect(inspect) => inspect.run(context.watch)?.into(),
            Command::Convert(convert) => convert.run(context.watch)?.into(),
            Command::Generate(generate) => generate.run(context.watch)?.into(),
            Command::Partition(partition) => partition.run(context, team)?.into(),
            Command::Plan(plan) => plan.run(context, team)?.into(),
            Command::Bench(bench) => bench.run(context, team)?.into(),
            Command::Graphalytics(graphalytics) => graphalytics.run(context)?,
            Command::List(list) => list.run(context.algorithms).into(),
            Command::Explain(explain) => explain.run(context)?.into(),
            Command::New(new) => new.run()?.into(),
            Command::Completions(completions) => completions.run(context.algorithms).into(),
            Command::Man(man) => man.run(context.algorithms)?.into(),
        })
    }

    /// Number of hosts of this process, as far as the arguments say.
    fn hosts_here(&self, team: &Team) -> usize {
        match self {
            _ if team.is_distributed() => 1,
            Command::Run(run) => run.hosts(),
            Command::Bench(bench) => bench.most_hosts(),
            Command::Graphalytics(graphalytics) => graphalytics.hosts(),
            _ => 1,
        }
    }

    /// Number of hosts that share the threads of one.
    fn hosts_of_pool(&self) -> usize {
        if let Command::Partition(partition) = self { partition.hosts() } else { 1 }
    }

    /// True if it works on graphs, which takes threads and memory.
    fn reads_graphs(&self) -> bool {
        use Command::{Completions, Explain, List, Man, New};
        !matches!(self, List(_) | Explain(_) | New(_) | Completions(_) | Man(_))
    }

    /// True if all hosts compute with threads of the processor.
    fn computes_on_threads(&self) -> bool {
        match self {
            Command::Run(run) => run.computes_on_threads(),
            Command::Bench(bench) => bench.computes_on_threads(),
            _ => true,
        }
    }

    /// True if the ranks of a launcher can share the work.
    fn can_be_distributed(&self) -> bool {
        matches!(self, Command::Run(_) | Command::Partition(_))
    }
}

impl Arguments {
    /// The arguments of this process, with the names and options of these algorithms.
    fn parse_for(algorithms: &[&'static dyn Algorithm]) -> Result<Self, clap::Error> {
        // Help on one algorithm tells its own options, and no others'; one that is alone is meant.
        let words = std::env::args_os().skip(1).filter_map(|word| word.into_string().ok());
        let words: Vec<String> = words.collect();
        let is_named =
            |algorithm: &&&dyn Algorithm| words.iter().any(|word| algorithm.is_called(word));
        let only = algorithms.first().filter(|_| algorithms.len() == 1);
        let named = algorithms.iter().find(is_named).or(only);
        let command = command_for(algorithms, named.map_or(&[], std::slice::from_ref));
        let matches = command.try_get_matches();
        Arguments::from_arg_matches(&matches.map_err(|error| suggest(error, algorithms))?)
    }
}

/// Adds to a complaint about a word what was probably meant: a misspelt algorithm, or `run` before one.
fn suggest(mut error: clap::Error, algorithms: &[&'static dyn Algorithm]) -> clap::Error {
    let word = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => word.clone(),
        _ => String::new(),
    };
    let names = || algorithms.iter().map(|algorithm| algorithm.name());
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let asked = word(ContextKind::InvalidSubcommand);
            if algorithms.iter().any(|algorithm| algorithm.is_called(&asked)) {
                let meant = ContextValue::Strings(vec![format!("run {asked}")]);
                error.insert(ContextKind::SuggestedSubcommand, meant);
            }
        }
        ErrorKind::InvalidValue if word(ContextKind::InvalidArg) == "<ALGORITHM>" => {
            if let Some(meant) = nearest(&word(ContextKind::InvalidValue), names()) {
                error.insert(ContextKind::SuggestedValue, ContextValue::String(meant.into()));
            }
        }
        _ => {}
    }
    error
}

/// A number of hosts.
fn parse_hosts(text: &str) -> Result<NonZeroU16, String> {
    text.parse().map_err(|_| format!("expected 1 to {}", u16::MAX))
}

/// The command with the names and options of these algorithms. The help of `run` shows the options of some.
fn command_for(
    algorithms: &[&'static dyn Algorithm],
    shown: &[&'static dyn Algorithm],
) -> clap::Command {
    Arguments::command()
        .mut_subcommand("run", |run| options::for_algorithms(run, algorithms, shown))
        .mut_subcommand("bench", |bench| options::for_algorithms(bench, algorithms, algorithms))
}

/// Does what the arguments of this process say, with these algorithms on offer. Returns the code to
/// exit with; the codes are those of `parton --help`.
///
/// The `parton` command is `main(parton::algorithms::ALL)`. To offer Parton's own algorithms beside
/// yours, give both: `main(&[&[&Mine], parton::algorithms::ALL].concat())`.
pub fn main(algorithms: &[&'static dyn Algorithm]) -> ExitCode {
    crate::graph::memory::on_exhaustion(out_of_memory);
    crate::planning::note_start();
    // Before anything else: a failure after this point is a failure of all ranks.
    let mut team = match Team::assemble() {
        Ok(team) => team,
        Err(failure) => return failure.report(),
    };
    let stage = team.stage().clone();
    let outcome = match team.check_likeness().map(|()| Arguments::parse_for(algorithms)) {
        Ok(Ok(arguments)) => execute(arguments, algorithms, &mut team),
        // Help is such an error, too. It is the same on all ranks.
        Ok(Err(error)) => {
            if team.speaks() {
                // If even standard error is closed, the message has no reader.
                let _ = error.print();
            }
            team.part();
            return ExitCode::from(error.exit_code() as u8);
        }
        Err(failure) => Err(failure),
    };
    let outcome = team.together(outcome);
    let speaks = team.speaks();
    stage.end_with(outcome.as_ref().map_or_else(Failure::code, CommandOutput::code));
    let code = match outcome {
        Ok(output) if speaks => output.print(),
        Ok(output) => output.silenced().print(),
        Err(failure) if failure.code() == exit::HOST_LOST => {
            // The rank that lost another one has said so, and the launcher is ending it.
            team.part();
            return failure.report();
        }
        Err(failure) => failure.report(),
    };
    // Not earlier: a launcher ends all ranks when one has ended with a code.
    team.part();
    code
}

/// Hosts of one process: more are no faster on any machine, and take long to begin.
const MAX_HOSTS_PER_PROCESS: usize = 1024;
/// Threads of one process, for the same reasons.
const MAX_THREADS_PER_PROCESS: usize = 4096;
/// Threads of a process that compute nothing: for signals, progress, MPI.
const OTHER_THREADS: usize = 8;

/// Refuses numbers of hosts and threads that no machine could serve.
fn check_limits(hosts: usize, each: usize) -> Result<(), Failure> {
    if hosts > MAX_HOSTS_PER_PROCESS {
        return Err(Failure::usage(format!(
            "--hosts {hosts}: one process has at most {MAX_HOSTS_PER_PROCESS} hosts; for more, start \
             ranks by mpirun or srun"
        )));
    }
    if each.saturating_mul(hosts) > MAX_THREADS_PER_PROCESS {
        return Err(Failure::usage(format!(
            "{hosts} host{} with {each} threads each: one process has at most \
             {MAX_THREADS_PER_PROCESS} threads (--threads)",
            if hosts == 1 { "" } else { "s" }
        )));
    }
    Ok(())
}

/// Executes the command of the arguments.
fn execute(
    arguments: Arguments,
    algorithms: &[&'static dyn Algorithm],
    team: &mut Team,
) -> Result<CommandOutput, Failure> {
    // The library has been loaded by now.
    let Arguments { command, threads, quiet, mpi: _ } = arguments;
    signals::end_cleanly(team.stage().clone(), team.is_distributed())
        .map_err(|error| Failure::no_thread(format!("cannot listen to signals: {error}")))?;
    if team.is_distributed() && !command.can_be_distributed() {
        return Err(Failure::usage(
            "only `run` and `partition` share their work over ranks: start others without a launcher",
        ));
    }
    let watch = Watch::new(quiet, team.speaks());
    if let Some(warning) = team.warning() {
        watch.warn(&warning);
    }
    let here = command.hosts_here(team);
    match &command {
        // Its hosts share the threads.
        Command::Partition(partition) if !team.is_distributed() => {
            check_limits(partition.hosts(), 1).and(check_limits(1, team.threads(threads, 1)))?;
        }
        _ => check_limits(here, team.threads(threads, here))?,
    }
    if command.reads_graphs() {
        let of_hosts = team.threads(threads, here) * here.max(command.hosts_of_pool());
        let shared = team.threads(threads, 1) * if threads.is_some() { here } else { 1 };
        // Drivers of devices reserve more than they use.
        if command.computes_on_threads() {
            memory::guard(team.processes_here(), of_hosts + shared + OTHER_THREADS)?;
        }
        memory::check_stacks(of_hosts + shared)?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(shared);
        pool.build_global().map_err(|error| Failure::no_threads(shared, &error))?;
    }
    let output = command.run(&Context { algorithms, threads, watch: &watch }, team);
    watch.finish();
    output
}
