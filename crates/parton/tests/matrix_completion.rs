//! `parton run matrix-completion` as a user meets it.

use crate::common;

use common::{folder, parton, text};
use serde_json::Value;

/// Ratings of users 1 to 30 and items 1 to 20, some of them kept apart.
fn write_ratings(folder: &std::path::Path) {
    let (mut training, mut test) = (String::new(), String::new());
    for user in 1..=30 {
        for item in 1..=20 {
            let line = format!("{user}\t{item}\t{}\t874965758\n", 1 + (user % 3 + item % 4) % 5);
            match (user * 31 + item * 17) % 10 {
                0 => test += &line,
                _ => training += &line,
            }
        }
    }
    // Somebody new.
    test += "31\t1\t5\t874965758\n";
    std::fs::write(folder.join("u.base"), training).expect("a file");
    std::fs::write(folder.join("u.test"), test).expect("a file");
}

#[test]
fn ratings_are_learnt_and_predicted() {
    let folder = folder();
    let folder = folder.path();
    write_ratings(folder);
    for hosts in ["1", "4"] {
        let output = parton(
            folder,
            &[
                "run",
                "matrix-completion",
                "u.base",
                "--bipartite",
                "--test",
                "u.test",
                "--hosts",
                hosts,
                "--width",
                "8",
                "--max-rounds",
                "60",
                "--verify",
                "--json",
                "--report",
                "page.html",
            ],
        );
        let said = text(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert!(said.contains("1 of 61 test ratings are left out of rmse_test"), "{said}");
        let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
        assert_eq!(report["engine"], "blocks");
        assert_eq!(report["converged"], true);
        assert_eq!(report["verified"], true);
        let result = &report["result"];
        assert_eq!((&result["users"], &result["items"]), (&30.into(), &20.into()));
        assert_eq!(result["test_ratings"], 60);
        let real = |value: &Value| value.as_f64().expect("a number");
        assert!(real(&result["rmse"]) < 1.0, "{result}");
        assert!(real(&result["rmse_test"]) < 1.3, "{result}");
        let per_round = report["per_round"].as_array().expect("rounds");
        assert_eq!(per_round.len(), 60);
        assert!(real(&per_round[59]["rmse"]) < real(&per_round[0]["rmse"]));
        let page = std::fs::read_to_string(folder.join("page.html")).expect("a page");
        assert!(page.contains("<h2>Convergence</h2>") && page.contains("rmse after each round"));
    }
}

#[test]
fn what_is_no_ratings_is_refused() {
    let folder = folder();
    let folder = folder.path();
    write_ratings(folder);
    std::fs::write(folder.join("plain.csv"), "user,item\n1,7\n2,8\n").expect("a file");
    std::fs::write(folder.join("odd.csv"), "user,item,stars\n1,7,nan\n2,8,3\n").expect("a file");
    for (arguments, code, message) in [
        (&["u.base"][..], 65, "vertex 1 is both a user and an item"),
        (&["u.base", "--bipartite", "--undirected"], 65, "vertex s1 is both"),
        (&["u.base", "--bipartite", "--width", "0"], 2, "--width 0: expected 1 to"),
        (&["u.base", "--bipartite", "--learning-rate", "0"], 2, "--learning-rate 0"),
        (&["u.base", "--bipartite", "--learning-rate", "1e9"], 65, "lower --learning-rate"),
        (&["u.base", "--bipartite", "--test", "missing"], 66, "missing"),
        (&["u.base", "--bipartite", "--test", "plain.csv"], 65, "--test: its edges have no"),
        (&["u.base", "--bipartite", "--engine", "push"], 2, "blocks can"),
        (&["u.base", "--bipartite", "--pace", "basp"], 2, "needs rounds"),
        (&["u.base", "--bipartite", "--root", "1"], 2, "--root means nothing"),
        (&["plain.csv"], 65, "matrix-completion needs weights"),
        (&["odd.csv"], 65, "nan"),
        (&["rmat:6"], 65, "matrix-completion needs weights"),
        (&["rmat:6", "--weights", "unit"], 65, "is both a user and an item"),
        (&["path:1", "--weights", "unit"], 65, "no ratings"),
    ] {
        for hosts in ["1", "3"] {
            let arguments = [&["run", "matrix-completion", "--hosts", hosts], arguments].concat();
            let output = parton(folder, &arguments);
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
            assert!(said.contains(message), "{arguments:?}: {said}");
            assert!(!said.contains("panicked"), "{arguments:?}: {said}");
        }
    }
    let bench = ["bench", "path:4", "--repetitions", "1", "--json"];
    let output = parton(folder, &bench);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(!text(&output.stdout).contains("matrix-completion"), "not every graph has ratings");
}
