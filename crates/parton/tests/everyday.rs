//! What makes the command pleasant every day: pipes, slips of the keyboard, words that explain themselves,
//! progress.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::common::{command, folder, parton, text};

const RUN: [&str; 6] = ["run", "bfs", "grid:30x20", "--root", "0", "--hosts"];

#[test]
fn rows_go_to_a_pipe() {
    let folder = folder();
    let path = folder.path();
    let run = |hosts: &str, more: &[&str]| parton(path, &[&RUN[..], &[hosts], more].concat());
    let file = run("3", &["--output", "levels.csv", "--quiet"]);
    assert!(file.status.success());
    let expected = std::fs::read(path.join("levels.csv")).unwrap();
    let piped = run("3", &["--output", "-"]);
    assert_eq!(piped.stdout, expected);
    let said = text(&piped.stderr);
    assert!(said.contains("reached") && !said.contains("wrote"), "the report: {said}");
    let quiet = run("1", &["--output", "-", "--quiet"]);
    assert_eq!((quiet.stdout, text(&quiet.stderr)), (expected, String::new()));
    for format in ["tsv", "jsonl", "parquet", "npy"] {
        let name = format!("levels.{format}");
        assert!(run("2", &["--output", &name, "--quiet"]).status.success());
        let piped = run("2", &["--output", "-", "--output-format", format, "--quiet"]);
        assert_eq!(piped.stdout, std::fs::read(path.join(name)).unwrap(), "{format}");
    }
    // The name of a file need not say the format, either.
    assert!(run("1", &["--output", "plain", "--output-format", "csv"]).status.success());
    assert!(std::fs::read_to_string(path.join("plain")).unwrap().starts_with("id,level\n0,0\n"));
    for (arguments, message) in [
        (&["--output", "-", "--json"][..], "both write to standard output"),
        (&["--output-format", "csv"], "--output"),
        (&["--output", "-", "--output-format", "xls"], "possible values: csv"),
    ] {
        let refused = run("1", arguments);
        let said = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(message), "{arguments:?}: {said}");
    }
}

/// What was probably meant is said, whichever part of the line is wrong.
#[test]
fn slips_get_a_hint() {
    let folder = folder();
    for (arguments, code, hint) in [
        (&["run", "bsf", "path:9"][..], 2, "a similar value exists: 'bfs'"),
        (&["pagerank", "path:9"], 2, "'run pagerank'"),
        (&["wcc", "path:9"], 2, "'run wcc'"),
        (&["plan", "path:9", "--hosts", "0"], 2, "expected 1 to 65535"),
        (&["bench", "path:9", "--hosts", "1,0"], 2, "expected 1 to 65535"),
    ] {
        let refused = parton(folder.path(), arguments);
        let said = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(hint), "{arguments:?}: {said}");
    }
}

/// Notes on a standard error that nobody reads are dropped, and end nothing.
#[test]
fn a_closed_standard_error_is_no_failure() {
    let folder = folder();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = command();
    command.args(["partition", "rmat:6", "--hosts", "2"]).current_dir(folder.path());
    let output = command.stdout(Stdio::piped()).stderr(writer).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("recommendation: "));
}

/// `| head`: the pipe holds 64 KiB, and the rows are more.
#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let folder = folder();
    for arguments in [
        &["run", "bfs", "path:200000", "--root", "0", "--output", "-", "--quiet"][..],
        &["generate", "path:200000", "-", "--to", "edges", "--quiet"],
    ] {
        let mut command = command();
        command.args(arguments).current_dir(folder.path());
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
        let mut line = String::new();
        let mut reader = BufReader::new(child.stdout.take().expect("a pipe"));
        reader.read_line(&mut line).expect("a line");
        drop(reader);
        let ended = child.wait_with_output().expect("it ends");
        assert_eq!((ended.status.code(), text(&ended.stderr)), (Some(0), String::new()), "{line}");
    }
}

#[test]
fn slips_are_answered_with_what_was_meant() {
    let folder = folder();
    for (arguments, code, message) in [
        (&["run", "pagrank", "path:5"][..], 2, "pagerank"),
        (&["partitoin", "path:5"], 2, "'partition'"),
        (&["run", "bfs", "path:5", "--engine", "frontiers"], 2, "frontier"),
        (&["run", "bfs", "path:5", "--policy", "fenel"], 2, "did you mean 'fennel'?"),
        (&["run", "bfs", "path:5", "--hots", "2"], 2, "--hosts"),
        (&["run", "pagerank", "path:5", "--dampin", "0.5"], 2, "--damping"),
        (&["partition", "path:5", "--policy", "ovc"], 2, "did you mean"),
        (&["run", "bfs", "rmta:8"], 66, "did you mean the generator 'rmat'?"),
        (&["generate", "gird:3x3", "x.el"], 2, "did you mean 'grid'?"),
    ] {
        let output = parton(folder.path(), arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(message), "{arguments:?}: {said}");
    }
}

#[test]
fn help_and_lists_can_be_read() {
    let folder = folder();
    let said = |arguments: &[&str]| text(&parton(folder.path(), arguments).stdout);
    assert!(said(&["run", "--help"]).contains("parton run [OPTIONS] <ALGORITHM> <GRAPH>"));
    let list = said(&["list"]);
    for word in ["rmat:SCALE", "web:", "file:", "strongly-connected", "brandes-push"] {
        let line = list.lines().find(|line| line.trim_start().starts_with(word));
        let line = line.unwrap_or_else(|| panic!("no {word} in {list}"));
        assert!(line.trim_start().contains("  "), "no blanks after the name: {line}");
    }
    let found = said(&["run", "bfs", "grid:4x3", "--root", "0"]);
    assert!(found.contains("how far the farthest of these is"), "{found}");
}

/// On a terminal, which `script` pretends to be.
#[test]
fn progress_says_what_is_going_on() {
    let folder = folder();
    let runs = |words: &str| {
        let line = format!("{} {words}", command().get_program().display());
        let mut script = Command::new("script");
        script.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
        script.env("TERM", "xterm");
        let output = script.current_dir(folder.path()).stdin(Stdio::null()).output();
        text(&output.expect("script, of util-linux").stdout)
    };
    let said = runs("run pagerank rmat:15 --hosts 2 --threads 1 --tolerance 1e-12");
    assert!(said.contains("residual") && said.contains("ends at 1e-12"), "{said}");
    assert!(said.contains("changed"), "{said}");
    let said = runs("run betweenness rmat:10 --hosts 2 --threads 1 --sources 512");
    assert!(said.contains("of 512 sources"), "{said}");
    let said = runs("run bfs rmat:15 --hosts 2 --quiet");
    assert!(!said.contains("round 1"), "{said}");
}
