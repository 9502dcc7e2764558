//! What every command says of how it read a graph, and how to say it otherwise.

use serde_json::Value;

use crate::common::{folder, parton, text};

const EDGES: &str = "id,from_user,to_user,amount,note\n17,1,2,9.5,a\n18,2,3,8,b\n19,3,1,2,c\n";
const READ_AS: &str = "g.csv: read as CSV with header: source = from_user, destination = to_user, \
                       weight = amount; 2 columns ignored";

#[test]
fn every_command_says_once_how_it_read_a_graph() {
    let folder = folder();
    let path = folder.path();
    std::fs::write(path.join("g.csv"), EDGES).unwrap();
    for arguments in [
        &["run", "bfs", "g.csv", "--json"][..],
        &["run", "bfs", "g.csv", "--hosts", "3", "--json"],
        &["run", "sssp", "g.csv", "--undirected", "--json"],
        &["inspect", "g.csv", "--json"],
        &["partition", "g.csv", "--hosts", "2", "--policy", "oec", "--json"],
        &["bench", "g.csv", "--algorithms", "bfs", "--repetitions", "1", "--json"],
        &["convert", "g.csv", "g.parton"],
    ] {
        let output = parton(path, arguments);
        let said = text(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        assert_eq!(said.matches(READ_AS).count(), 1, "{arguments:?}: {said}");
        let quiet = parton(path, &[arguments, &["--quiet"]].concat());
        assert!(quiet.stderr.is_empty(), "{arguments:?}: {}", text(&quiet.stderr));
        if !arguments.contains(&"--json") {
            continue;
        }
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let input = &report["inputs"][0];
        assert_eq!(input["file"], "g.csv", "{arguments:?}");
        assert_eq!(input["bytes"], EDGES.len());
        assert!(
            READ_AS[15..].split(", ids").all(|part| input["read_as"].to_string().contains(part))
        );
        assert!(input["digest"].as_str().unwrap().starts_with("sampled-v1:"), "{input}");
        assert_eq!(report["parton"], env!("CARGO_PKG_VERSION"));
        let words: Vec<&str> =
            report["command"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(words, arguments);
    }
    let generated = parton(path, &["run", "bfs", "path:5", "--json"]);
    assert!(generated.stderr.is_empty(), "{}", text(&generated.stderr));
    let report: Value = serde_json::from_slice(&generated.stdout).expect("JSON");
    assert_eq!(report["inputs"][0]["read_as"], "generated: path:5 (undirected)");
}

#[test]
fn a_text_of_comments_alone_says_how_comments_begin() {
    let folder = folder();
    std::fs::write(folder.path().join("g.txt"), "#1 2\n#2 3\n").unwrap();
    let said = text(&parton(folder.path(), &["inspect", "g.txt"]).stderr);
    assert!(said.contains("without rows: all lines are comments (--comment"), "{said}");
    let inspected = ["inspect", "g.txt", "--comment", "%", "--json"];
    let output = parton(folder.path(), &inspected);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["edges"], 2, "{report}");
}

#[test]
fn plan_and_graphalytics_say_once_how_they_read_a_graph() {
    let folder = folder();
    let path = folder.path();
    std::fs::write(path.join("g.csv"), EDGES).unwrap();
    let sets = concat!(env!("CARGO_MANIFEST_DIR"), "/../graph/tests/data/graphalytics");
    for name in ["bow.properties", "bow.v", "bow.e"] {
        std::fs::copy(format!("{sets}/{name}"), path.join(name)).unwrap();
    }
    for (arguments, read_as) in [
        (&["plan", "g.csv", "--no-trial"][..], READ_AS),
        (&["plan", "g.csv", "--algorithm", "bfs", "--hosts", "1,2"], READ_AS),
        (&["graphalytics", "bow.properties"], "bow.properties: read as LDBC Graphalytics"),
        (
            &["graphalytics", "bow.properties", "--hosts", "2"],
            "bow.properties: read as LDBC Graphalytics",
        ),
    ] {
        let output = parton(path, arguments);
        let said = text(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        assert_eq!(said.matches(read_as).count(), 1, "{arguments:?}: {said}");
        let quiet = parton(path, &[arguments, &["--quiet"]].concat());
        assert!(quiet.stderr.is_empty(), "{arguments:?}: {}", text(&quiet.stderr));
    }
}

#[test]
fn doubts_are_refused_with_the_option_that_helps() {
    let folder = folder();
    let path = folder.path();
    std::fs::write(path.join("f.csv"), "src_ip,dst_ip,src_port,dst_port\na,b,1,2\nb,c,3,4\n")
        .unwrap();
    std::fs::write(path.join("n.txt"), "1 2 NaN\n2 3 0.5\n").unwrap();
    std::fs::write(path.join("k.txt"), "% sym unweighted\n1 2\n2 3\n").unwrap();
    std::fs::write(path.join("odd.txt"), "report\n1|2|1,5\n! 9|9|9\n2|3|2,5\n").unwrap();
    for (command, file, said) in [
        ("run", "f.csv", "say it with --columns, such as --columns src_ip,dst_ip"),
        ("run", "n.txt", "n.txt:1:5: in \"1 2 NaN\": weight 'NaN' is not a number"),
        ("inspect", "n.txt", "n.txt:1:5"),
    ] {
        let arguments = match command {
            "run" => vec!["run", "bfs", file, "--hosts", "2"],
            _ => vec![command, file],
        };
        let output = parton(path, &arguments);
        assert_eq!(output.status.code(), Some(65), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains(said), "{}", text(&output.stderr));
    }
    let report = |arguments: &[&str]| -> Value {
        let output = parton(path, &[arguments, &["--json"]].concat());
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    let options = ["--skip-lines", "1", "--comment", "!", "--delimiter", "|", "--decimal", "comma"];
    let run = report(
        &[&["run", "sssp", "odd.txt", "--root", "1", "--hosts", "2"], &options[..]].concat(),
    );
    assert_eq!(run["result"]["max"], 4.0, "{}", run["result"]);
    assert_eq!(report(&[&["inspect", "odd.txt"], &options[..]].concat())["edges"], 2);
    let asked = ["--columns", "src_ip,dst_ip"];
    assert_eq!(report(&[&["inspect", "f.csv"], &asked[..]].concat())["edges"], 2);
    // What a file says of its direction is the same for any number of hosts.
    for hosts in ["1", "2", "3"] {
        let run = report(&["run", "bfs", "k.txt", "--root", "3", "--hosts", hosts]);
        assert_eq!(run["graph"]["edges"], 4, "{hosts}");
        assert_eq!(run["result"]["reached"], 3);
        let run = report(&["run", "bfs", "k.txt", "--root", "3", "--hosts", hosts, "--directed"]);
        assert_eq!(run["graph"]["edges"], 2, "{hosts}");
    }
    let refused = parton(path, &["run", "bfs", "path:5", "--delimiter", ";"]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
}
