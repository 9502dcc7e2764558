//! Ranks that were started differently, or see other files under the same names.

use crate::common::{files, folder, parton, text};
use crate::{PARTON, launchers, run_after};

#[test]
fn ranks_that_differ_are_found_out() {
    let folder = folder();
    let path = folder.path();
    std::fs::create_dir(path.join("elsewhere")).unwrap();
    std::fs::write(path.join("edges.csv"), "1,2\n2,3\n").unwrap();
    std::fs::write(path.join("elsewhere/edges.csv"), "1,2\n2,x,y\n").unwrap();
    let bfs = ["run", "bfs", "edges.csv", "--output", "out.csv"];
    for mpi in launchers::ALL {
        let told = r#"[ $rank = 1 ] && set -- "$@" --verify"#;
        let ended = run_after(told, mpi, 2, path, &bfs);
        ended.assert_refused(2, &["rank 1", "--verify", "started alike"]);

        let build = format!(
            "[ $rank = 1 ] && {{ cp {PARTON} other && echo >> other && shift && set -- ./other \"$@\"; }}"
        );
        let ended = run_after(&build, mpi, 2, path, &bfs);
        ended.assert_refused(2, &["rank 0 runs parton", "but rank 1 parton", "started alike"]);
        std::fs::remove_file(path.join("other")).unwrap();

        let ended = run_after("[ $rank = 2 ] && cd /", mpi, 3, path, &bfs);
        ended.assert_refused(66, &["host 2: edges.csv: no such file"]);

        let elsewhere = "[ $rank = 1 ] && cd elsewhere";
        let ended = run_after(elsewhere, mpi, 3, path, &bfs);
        ended.assert_refused(65, &["edges.csv", "but rank 1", "must see the same input"]);
        // As long as the other, and a graph, too.
        std::fs::write(path.join("elsewhere/edges.csv"), "1,2\n3,2\n").unwrap();
        let ended = run_after(elsewhere, mpi, 3, path, &bfs);
        ended.assert_refused(65, &["edges.csv", "but rank 1", "must see the same input"]);
        assert_eq!(files(path), ["edges.csv", "elsewhere"]);
        // A copy is as good.
        std::fs::write(path.join("elsewhere/edges.csv"), "1,2\n2,3\n").unwrap();
        let ended = run_after(elsewhere, mpi, 3, path, &bfs);
        assert!(ended.status.success(), "{ended:?}");
        std::fs::remove_file(path.join("out.csv")).unwrap();
        std::fs::write(path.join("elsewhere/edges.csv"), "1,2\n2,x,y\n").unwrap();
    }
}

#[test]
fn ranks_with_other_ids_beside_a_graph_are_found_out() {
    let folder = folder();
    let path = folder.path();
    let other = path.join("elsewhere");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(path.join("names.csv"), "ada,bob\nbob,eve\n").unwrap();
    let converted = parton(path, &["convert", "names.csv", "n.gr", "-q"]);
    assert!(converted.status.success(), "{}", text(&converted.stderr));
    std::fs::copy(path.join("n.gr"), other.join("n.gr")).unwrap();
    let ids = std::fs::read_to_string(path.join("n.gr.ids")).unwrap();
    let elsewhere = "[ $rank = 1 ] && cd elsewhere";
    for mpi in launchers::ALL {
        let _ = std::fs::remove_file(other.join("n.gr.ids"));
        let ended = run_after(elsewhere, mpi, 2, path, &["run", "bfs", "n.gr"]);
        ended.assert_refused(65, &["n.gr.ids: rank 0 sees", "but rank 1 no such file"]);
        std::fs::write(other.join("n.gr.ids"), ids.replace("bob", "cob")).unwrap();
        let ended = run_after(elsewhere, mpi, 2, path, &["run", "bfs", "n.gr"]);
        ended.assert_refused(65, &["n.gr.ids: rank 0 sees", "must see the same input"]);
        std::fs::write(other.join("n.gr.ids"), &ids).unwrap();
        let ended = run_after(elsewhere, mpi, 2, path, &["run", "bfs", "n.gr"]);
        assert!(ended.status.success(), "{ended:?}");
    }
}

#[test]
fn ranks_with_other_files_beside_the_graph_are_found_out() {
    let folder = folder();
    let path = folder.path();
    let other = path.join("elsewhere");
    std::fs::create_dir(&other).unwrap();
    let graph = "source,target,rating\n1,2,3\n3,2,4\n3,4,1\n";
    let write = |name: &str, here: &str, there: &str| {
        std::fs::write(path.join(name), here).unwrap();
        std::fs::write(other.join(name), there).unwrap();
    };
    write("g.csv", graph, graph);
    write("roots", "1\n", "3\n");
    write("test.csv", "source,target,rating\n1,4,3\n", "source,target,rating\n1,4,5\n");
    let elsewhere = "[ $rank = 1 ] && cd elsewhere";
    for mpi in launchers::ALL {
        for run in [
            &["run", "betweenness", "g.csv", "--sources", "roots"][..],
            &["run", "pagerank", "g.csv", "--seeds", "roots"],
        ] {
            let ended = run_after(elsewhere, mpi, 2, path, run);
            ended.assert_refused(65, &["roots: rank 0 sees", "must see the same input"]);
        }
        let run = ["run", "matrix-completion", "g.csv", "--bipartite", "--test", "test.csv"];
        let ended = run_after(elsewhere, mpi, 2, path, &run);
        ended.assert_refused(65, &["test.csv: rank 0 sees", "must see the same input"]);
    }
}
