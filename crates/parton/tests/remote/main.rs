//! Graphs behind URLs, and answers that go there: the command beside a server on this machine. Needs the
//! feature `remote`; `cargo xtask test --long` runs it.

#[path = "../common/mod.rs"]
mod common;
mod server;

use std::path::Path;
use std::process::{Command, Output};

use common::{command, folder, parton, text};
use server::Server;

/// The command, with a store's settings for this server and no others.
fn remote(server: &Server, folder: &Path, arguments: &[&str]) -> Output {
    let origin = server.origin();
    let account = folder.join("account.json");
    let google = format!(
        "{{\"gcs_base_url\":\"{origin}\",\"disable_oauth\":true,\"client_email\":\"\",\"private_key\":\"\",\
         \"private_key_id\":\"\"}}"
    );
    std::fs::write(&account, google).expect("a file");
    let mut command: Command = command();
    command.env_clear().current_dir(folder).args(arguments);
    command.env("AWS_ACCESS_KEY_ID", "key").env("AWS_SECRET_ACCESS_KEY", "secret");
    command.env("AWS_ENDPOINT_URL", &origin).env("AWS_ALLOW_HTTP", "true");
    command.env("AWS_REGION", "us-east-1");
    command.env("GOOGLE_SERVICE_ACCOUNT", &account);
    command.env("AZURE_STORAGE_ACCOUNT_NAME", "account").env("AZURE_STORAGE_ENDPOINT", &origin);
    command.env("AZURE_SKIP_SIGNATURE", "true").env("AZURE_ALLOW_HTTP", "true");
    command.output().expect("the command runs")
}

fn succeeded(output: &Output) -> String {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// A graph as a file of this ending.
fn graph(folder: &Path, spec: &str, name: &str) -> Vec<u8> {
    succeeded(&parton(folder, &["generate", spec, name, "--quiet"]));
    std::fs::read(folder.join(name)).expect("the graph")
}

/// The part of a report that says what was found.
fn found(report: &str) -> serde_json::Value {
    let report: serde_json::Value = serde_json::from_str(report).expect("JSON");
    serde_json::json!([report["graph"], report["result"]])
}

#[test]
fn graphs_are_read_from_every_store() {
    let (server, folder) = (Server::start(), folder());
    let path = folder.path();
    for name in ["g.el", "g.parton", "g.parquet", "g.el.gz"] {
        let bytes = graph(path, "rmat:10", name);
        for place in ["/bucket", "/account/bucket", ""] {
            server.put(&format!("{place}/data/{name}"), &bytes);
        }
        let local = succeeded(&parton(path, &["run", "bfs", name, "--json", "--quiet"]));
        let origin = server.origin();
        for (url, hosts) in [
            (format!("{origin}/data/{name}"), "1"),
            (format!("{origin}/data/{name}"), "3"),
            (format!("s3://bucket/data/{name}"), "2"),
            (format!("gs://bucket/data/{name}"), "4"),
            (format!("az://bucket/data/{name}"), "2"),
        ] {
            let arguments = ["run", "bfs", &url, "--json", "--quiet", "--hosts", hosts, "--verify"];
            let report = succeeded(&remote(&server, path, &arguments));
            assert_eq!(found(&report), found(&local), "{url}");
            assert!(report.contains(&format!("\"file\": \"{url}\"")), "{report}");
        }
    }
}

#[test]
fn hosts_fetch_their_shares() {
    let (server, folder) = (Server::start(), folder());
    let path = folder.path();
    for name in ["large.el", "large.parton"] {
        let bytes = graph(path, "rmat:16", name);
        let object = format!("/bucket/{name}");
        server.put(&object, &bytes);
        let url = format!("s3://bucket{}", &object["/bucket".len()..]);
        let arguments = ["run", "bfs", &url, "--hosts", "4", "--quiet"];
        succeeded(&remote(&server, path, &arguments));
        let ranges = server.take_sent(&object);
        let sent: usize = ranges.iter().map(ExactSizeIterator::len).sum();
        let longest = ranges.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
        // The head is looked at by every host, and where lines start is looked for.
        assert!(sent < bytes.len() * 3 / 2, "{name}: {sent} of {} bytes sent", bytes.len());
        assert!(longest <= bytes.len() / 2, "{name}: one request for {longest} bytes");
    }
}

#[test]
fn folders_are_read_part_by_part() {
    let (server, folder) = (Server::start(), folder());
    server.put("/bucket/parts/a.csv", b"source,target\n1,2\n2,3\n");
    server.put("/bucket/parts/deep/b.csv", b"source,target\n3,4\n");
    server.put("/bucket/parts/_SUCCESS", b"");
    server.put("/bucket/parts/_log/c.csv", b"not a graph");
    server.put("/bucket/partsbeside.csv", b"source,target\n8,9\n");
    let arguments = ["inspect", "s3://bucket/parts/", "--json"];
    let report = succeeded(&remote(&server, folder.path(), &arguments));
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!((&report["vertices"], &report["edges"]), (&4.into(), &3.into()));
}

#[test]
fn answers_appear_when_they_are_whole() {
    let (server, folder) = (Server::start(), folder());
    let path = folder.path();
    let run = |arguments: &[&str]| {
        remote(
            &server,
            path,
            &[&["run", "bfs", "grid:20x20", "--root", "0", "--quiet"], arguments].concat(),
        )
    };
    for name in ["levels.csv", "levels.csv.gz", "levels.parquet", "levels.npy"] {
        succeeded(&run(&["--output", name, "--hosts", "3"]));
        succeeded(&run(&["--output", &format!("s3://bucket/{name}"), "--hosts", "3"]));
        let local = std::fs::read(path.join(name)).expect("a file");
        assert_eq!(server.get(&format!("/bucket/{name}")), Some(local), "{name}");
    }
    // Larger than a part: several requests, of which nothing is seen before the last.
    let large = ["run", "bfs", "path:900000", "--root", "0", "--quiet", "--output"];
    succeeded(&remote(&server, path, &[&large[..], &["s3://bucket/large.csv"]].concat()));
    succeeded(&remote(&server, path, &[&large[..], &["large.csv"]].concat()));
    let local = std::fs::read(path.join("large.csv")).expect("a file");
    assert!(local.len() > 8 << 20, "{} bytes", local.len());
    assert_eq!(server.get("/bucket/large.csv"), Some(local));
    assert_eq!(server.open_uploads(), 0);
    // A graph is written there, too, and a report.
    succeeded(&remote(&server, path, &["convert", "grid:5x5", "s3://bucket/g.parton", "--quiet"]));
    let inspected =
        remote(&server, path, &["inspect", "s3://bucket/g.parton", "--json", "--quiet"]);
    assert!(succeeded(&inspected).contains("\"vertices\": 25"));
}

#[test]
fn what_is_wrong_is_said() {
    let (server, folder) = (Server::start(), folder());
    let path = folder.path();
    for (arguments, code, message) in [
        (&["inspect", "s3://bucket/none.el"][..], 66, "there is no such object"),
        (&["inspect", "s3://bucket/none/"], 66, "contains no objects"),
        (&["run", "bfs", "path:9", "--output", "s3://bucket/x/"], 2, "written to disks only"),
        (&["run", "bfs", "path:9", "--output", "https://127.0.0.1:1/x.csv"], 74, "cannot write"),
    ] {
        let output = remote(&server, path, arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(message), "{arguments:?}: {said}");
    }
}
