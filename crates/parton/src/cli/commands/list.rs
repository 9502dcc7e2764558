//! `parton list`: what there is to choose from.

use crate::algorithms::{self, Algorithm, Options};
use crate::gpu::discover;
use crate::graph::{formats, generate};
use crate::output;
use crate::partition::policies;
use clap::Args;

use crate::cli::options::{own_options, spelled};
use crate::cli::show;

/// List the algorithms, engines, policies, file formats, generators and devices on offer.
#[derive(Args)]
pub(crate) struct List {}

impl List {
    pub(crate) fn run(self, algorithms: &[&dyn Algorithm]) -> String {
        let mut text =
            String::from("Algorithms, with the engines that fit and their own options\n");
        let names = widest(algorithms.iter().map(|algorithm| algorithm.name()));
        for algorithm in algorithms {
            let engines: Vec<_> = algorithm.engines().iter().map(|engine| engine.name).collect();
            text += &format!("  {:<names$}{}\n", algorithm.name(), spelled(algorithm.about()));
            text += &format!("  {:<names$}engines {}", "", engines.join(", "));
            if algorithm.needs_threads(&Options::default()).is_none() {
                text += "; on GPUs, too";
            }
            match &own_options(*algorithm)[..] {
                "" => {}
                own => text += &format!("; options {own}"),
            }
            if !algorithm.aliases().is_empty() {
                text += &format!("; also called {}", algorithm.aliases().join(", "));
            }
            text.push('\n');
        }
        text += "\nEngines\n";
        let engines = algorithms::engines(algorithms).into_iter();
        text += &columns(engines.map(|engine| (engine.name.into(), engine.about)));
        text += "\nPolicies\n";
        text += &columns(policies::ALL.iter().map(|kind| (kind.usage(), kind.help)));
        text += "\nFormats of graphs (read, and written where marked)\n";
        for format in formats::ALL {
            let written = if format.writer().is_some() { "written" } else { "" };
            let endings: Vec<_> = format.endings().iter().map(|e| format!(".{e}")).collect();
            text += &format!("  {:<14}{written:<9}{}\n", format.name(), endings.join(" "));
        }
        text += "\nFormats of answers\n";
        for format in output::ALL {
            text += &format!("  .{:<13}{}\n", format.ending(), format.about());
        }
        text += "\nGenerators (each may end in ,permute to shuffle ids)\n";
        text += &columns(generate::ALL.iter().map(|kind| (kind.syntax.into(), kind.help)));
        text + &devices()
    }
}

/// Width of a column of names, with the blanks after the longest.
fn widest<'n>(names: impl Iterator<Item = &'n str>) -> usize {
    names.map(str::len).max().unwrap_or(0) + 2
}

/// Names and what they stand for, in two columns.
fn columns(rows: impl Iterator<Item = (String, &'static str)>) -> String {
    let rows: Vec<_> = rows.collect();
    let width = widest(rows.iter().map(|(name, _)| &name[..]));
    rows.iter().map(|(name, about)| format!("  {name:<width$}{about}\n")).collect()
}

/// The devices of this machine, or why there are none beside the processor.
fn devices() -> String {
    let mut text = String::from("\nDevices (for --devices)\n");
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    text += &format!("  {:<14}{threads} threads\n", "cpu");
    match discover::list() {
        Ok(gpus) => {
            for gpu in gpus {
                text += &format!(
                    "  {:<14}{}, {} of memory, {}, driver {}\n",
                    gpu.name,
                    gpu.model,
                    show::bytes(gpu.memory),
                    gpu.architecture,
                    gpu.driver
                );
            }
        }
        Err(reason) => text += &format!("  {:<14}{reason}\n", "no gpu"),
    }
    text
}
