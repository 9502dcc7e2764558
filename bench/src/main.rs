//! Parton beside other libraries, on the same files, in one run.
//!
//! Every measurement is a process of its own, so that peak memory is that of the work alone and
//! nobody inherits a warm allocator. Contestants take turns; the best of several turns counts.

mod gpu;
#[path = "../../xtask/src/figures/head.rs"]
mod head;
mod load;
mod measure;
mod net;
mod overhead;
mod pace;
mod partition;
mod quota;
mod spmv;
mod translated;
mod twins;
mod volume;
mod wire;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["gpu", ref options @ ..] => gpu::run(options),
        ["load", ref options @ ..] => load::run(options),
        ["net"] => net::run(),
        ["overhead", ref options @ ..] => overhead::run(options),
        ["pace", ref options @ ..] => pace::run(options),
        ["partition", ref options @ ..] => partition::run(options),
        ["spmv", ref options @ ..] => spmv::run(options),
        ["translated", ref options @ ..] => translated::run_all(options),
        ["twins", ref options @ ..] => twins::run(options),
        ["volume", ref options @ ..] => volume::run(options),
        ["wire"] => wire::run(),
        ["--measure", contestant, input] => {
            measure::in_this_process(load::CONTESTANTS, contestant, input)
        }
        _ => {
            eprintln!(
                "parton-bench gpu --graphs GRAPH+GRAPH… [--runs bfs/frontier+…] [--roots N] [--turns N] [--devices gpu+cpu] [--parton PROGRAM] [--commit NAME] [--output FILE.json]\n\
                 parton-bench load [--scale N] [--turns N] [--folder DIR] [--output FILE.json]\nparton-bench net\n\
                 parton-bench partition [--scale N] [--hosts N] [--turns N] [--folder DIR] [--output FILE.json]\n\
                 parton-bench overhead [--graph GRAPH] [--turns N]\n\
                 parton-bench pace [--graphs GRAPH+GRAPH…] [--policy NAME] [--runs bfs/push+…] [--turns N] [--simulated] [--slow-host cgroup] [--output FILE.json]\n\
                 parton-bench spmv --graphs GRAPH+GRAPH… [--policies NAME+NAME…] [--only spmv+pull…] [--hosts N] [--turns N] [--memory] [--output FILE.json]\n\
                 parton-bench translated --graphs GRAPH+GRAPH… [--device gpu] [--turns N] [--output FILE.json]\n\
                 parton-bench twins [--graph GRAPH] [--turns N] [--output FILE.json]\n\
                 parton-bench volume --parton PROGRAM --data DIR [--output FILE.json]\n\
                 parton-bench wire"
            );
            std::process::exit(2);
        }
    }
}

/// The argument after an option's name.
fn option<'a>(options: &[&'a str], name: &str) -> Option<&'a str> {
    let at = options.iter().position(|option| *option == name)?;
    options.get(at + 1).copied()
}

/// Writes rows where `--output` says, if it is given.
fn save(options: &[&str], rows: &[serde_json::Value]) {
    if let Some(file) = option(options, "--output") {
        std::fs::write(file, format!("{:#}\n", serde_json::json!(rows))).expect("a file to write");
    }
}
