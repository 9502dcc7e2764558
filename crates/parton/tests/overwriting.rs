//! What a command must not write over: another answer, its own input, the files of other programs.

use crate::common::{files, folder, parton, text};
use crate::faults::{refused, write};

#[test]
fn rows_and_report_are_two_files() {
    let folder = folder();
    let folder = folder.path();
    for report in ["x.csv", "./x.csv", "../here/x.csv"] {
        let here = folder.join("here");
        std::fs::create_dir_all(&here).unwrap();
        let run = ["run", "bfs", "path:9", "--root", "0", "--output", "x.csv", "--report", report];
        let said = refused(&here, &run, 2);
        assert!(said.contains("--output and --report are both"), "{said}");
        assert_eq!(files(&here), [""; 0]);
    }
}

#[test]
fn what_is_read_is_not_written_over() {
    let folder = folder();
    let folder = folder.path();
    write(folder, "x.csv", "source,target\n1,2\n2,3\n");
    write(folder, "roots.csv", "1\n");
    for (arguments, said) in [
        (&["bfs", "x.csv", "--output", "x.csv"][..], "--output and the graph are both x.csv"),
        (&["bfs", "x.csv", "--output", "./x.csv"], "--output and the graph are both"),
        (&["bfs", "x.csv", "--report", "x.csv"], "--report and the graph are both"),
        (
            &["betweenness", "x.csv", "--sources", "roots.csv", "--output", "roots.csv"],
            "--output and a file that is read are both roots.csv",
        ),
    ] {
        let refusal = refused(folder, &[&["run"], arguments].concat(), 2);
        assert!(refusal.contains(said), "{refusal}");
    }
    assert_eq!(std::fs::read_to_string(folder.join("x.csv")).unwrap(), "source,target\n1,2\n2,3\n");
}

#[test]
fn a_partition_replaces_no_other_files() {
    let folder = folder();
    let folder = folder.path();
    std::fs::create_dir(folder.join("mine")).unwrap();
    write(folder, "mine/thesis.txt", "years of work");
    let save = ["partition", "path:9", "--hosts", "2", "--policy", "oec", "--save", "mine", "-q"];
    let refusal = refused(folder, &save, 2);
    assert!(
        refusal.contains("mine: there are files in this folder that are no partition"),
        "{refusal}"
    );
    assert_eq!(files(&folder.join("mine")), ["thesis.txt"]);
    std::fs::remove_file(folder.join("mine/thesis.txt")).unwrap();
    // Into an empty folder, over a partition, and over one that lost its manifest half-way.
    for lost in [false, false, true] {
        if lost {
            std::fs::remove_file(folder.join("mine/manifest.json")).unwrap();
        }
        let saved = parton(folder, &save);
        assert!(saved.status.success(), "{}", text(&saved.stderr));
        assert_eq!(
            files(&folder.join("mine")),
            ["host-00000.part", "host-00001.part", "manifest.json"]
        );
    }
}
