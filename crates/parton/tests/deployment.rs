//! The files that put Parton into containers say what their readers understand: the manifest for Kubernetes
//! keeps to a schema of the fields that it may use, and manifest, image and scripts agree with each other and with
//! the command. Nothing here asks a cluster or builds an image.

use std::path::Path;

use serde_json::Value;

use crate::common::{folder, parton, text};

fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// A line of YAML: its depth, and its words.
type Line<'t> = (usize, &'t str);

/// As much of YAML as the manifest uses: mappings and lists by indentation, lists in brackets, words.
fn yaml(text: &str) -> Value {
    let lines =
        text.lines().filter(|line| !line.trim().is_empty() && !line.trim().starts_with('#'));
    let lines: Vec<Line> =
        lines.map(|line| (line.len() - line.trim_start().len(), line.trim())).collect();
    let mut rest = &lines[..];
    let value = block(&mut rest, 0);
    assert!(rest.is_empty(), "what is {:?}?", rest.first());
    value
}

/// The lines that are at least as deep as `depth`.
fn block(lines: &mut &[Line<'_>], depth: usize) -> Value {
    let (mut mapping, mut list) = (serde_json::Map::new(), Vec::new());
    while let Some(&(at, words)) = lines.first().filter(|(at, _)| *at >= depth) {
        assert_eq!(at, depth, "{words} is too deep");
        if let Some(item) = words.strip_prefix("- ") {
            if !item.contains(": ") || item.starts_with('"') {
                list.push(scalar(item));
                *lines = &lines[1..];
                continue;
            }
            // A mapping that begins behind the dash: its other lines are as deep as its first word.
            let mut own = vec![(depth + 2, item)];
            own.extend(lines[1..].iter().take_while(|(at, _)| *at > depth));
            *lines = &lines[own.len()..];
            let mut own = &own[..];
            list.push(block(&mut own, depth + 2));
            continue;
        }
        *lines = &lines[1..];
        let (name, value) = words.split_once(':').unwrap_or_else(|| panic!("what is {words}?"));
        let value = match (value.trim(), lines.first()) {
            ("", Some(&(inner, _))) if inner > depth => block(lines, inner),
            (value, _) => scalar(value),
        };
        assert_eq!(mapping.insert(name.into(), value), None, "{name} twice");
    }
    if list.is_empty() { Value::Object(mapping) } else { Value::Array(list) }
}

fn scalar(words: &str) -> Value {
    if let Some(items) = words.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return items.split(',').map(|item| scalar(item.trim())).collect();
    }
    match (words.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')), words.parse::<u64>()) {
        (Some(quoted), _) => quoted.into(),
        (None, Ok(number)) => number.into(),
        (None, Err(_)) => words.into(),
    }
}

/// The claim of a volume, and the job that uses it.
fn claim_and_job() -> [Value; 2] {
    let manifest = file("deploy/mpijob.yaml");
    let (claim, job) = manifest.split_once("\n---\n").expect("two documents");
    [claim, job].map(yaml)
}

fn manifest() -> Value {
    let [_, job] = claim_and_job();
    job
}

/// What of a value a schema does not allow. Knows as much of JSON Schema as the schema uses.
fn problems(root: &Value, schema: &Value, value: &Value, place: &str) -> Vec<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.strip_prefix("#/$defs/").expect("a definition");
        return problems(root, &root["$defs"][name], value, place);
    }
    if let Some(allowed) = schema["enum"].as_array() {
        let is_allowed = allowed.contains(value);
        return if is_allowed { Vec::new() } else { vec![format!("{place}: {value}")] };
    }
    let is_right = match schema["type"].as_str().expect("a type") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64(),
        "boolean" => value.is_boolean(),
        other => panic!("the schema says {other}"),
    };
    if !is_right {
        return vec![format!("{place}: {value}")];
    }
    let mut found = Vec::new();
    for required in schema["required"].as_array().into_iter().flatten() {
        if value.get(required.as_str().expect("a name")).is_none() {
            found.push(format!("{place}: no {required}"));
        }
    }
    for (name, inner) in value.as_object().into_iter().flatten() {
        let place = format!("{place}.{name}");
        match schema["properties"].get(name) {
            Some(schema) => found.extend(problems(root, schema, inner, &place)),
            None => found.push(format!("{place}: no such field")),
        }
    }
    for (number, inner) in value.as_array().into_iter().flatten().enumerate() {
        found.extend(problems(root, &schema["items"], inner, &format!("{place}[{number}]")));
    }
    found
}

#[test]
fn the_manifest_keeps_to_its_schema() {
    let schema: Value = serde_json::from_str(&file("deploy/mpijob.schema.json")).expect("JSON");
    let manifest = manifest();
    assert_eq!(problems(&schema, &schema, &manifest, ""), Vec::<String>::new());
    let spec = |change: fn(&mut Value)| {
        let mut changed = manifest.clone();
        change(&mut changed["spec"]);
        problems(&schema, &schema, &changed, "").len()
    };
    assert_eq!(spec(|spec| spec["slots"] = 1.into()), 1, "a field that is not there");
    assert_eq!(spec(|spec| spec["slotsPerWorker"] = "1".into()), 1, "another type");
    assert_eq!(spec(|spec| spec["mpiReplicaSpecs"] = serde_json::json!({})), 2, "missing");
    let wrong_kind = |spec: &mut Value| spec["runPolicy"]["cleanPodPolicy"] = "Never".into();
    assert_eq!(spec(wrong_kind), 1, "another word");
}

/// One rank on each worker, by the same image and user, with a command that Parton understands.
#[test]
fn manifest_image_and_command_agree() {
    let (manifest, image) = (manifest(), file("Dockerfile"));
    let replicas = &manifest["spec"]["mpiReplicaSpecs"];
    let container = |kind: &str| replicas[kind]["template"]["spec"]["containers"][0].clone();
    let (launcher, worker) = (container("Launcher"), container("Worker"));
    assert_eq!(launcher["image"], worker["image"]);
    let image_name = launcher["image"].as_str().expect("a name");
    assert!(image_name.ends_with(env!("CARGO_PKG_VERSION")), "{image_name}");
    for container in [&launcher, &worker] {
        let user = container["securityContext"]["runAsUser"].as_u64().expect("a number");
        assert!(image.contains(&format!("--uid {user} mpiuser")), "user {user}");
    }
    let keys = manifest["spec"]["sshAuthMountPath"].as_str().expect("a folder");
    assert!(image.contains(&format!("HostKey {keys}/id_rsa")), "{keys}");
    assert!(
        worker["args"].as_array().unwrap().iter().any(|word| word == "/home/mpiuser/.sshd_config")
    );
    let words: Vec<&str> =
        launcher["args"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let ranks = words.iter().skip_while(|word| **word != "-n").nth(1).expect("a number of ranks");
    assert_eq!(replicas["Worker"]["replicas"].to_string(), **ranks);
    // The command itself, on a graph of another place.
    let mut command: Vec<&str> = words.into_iter().skip_while(|word| *word != "run").collect();
    let folder = folder();
    for word in &mut command {
        if let Some(name) = word.strip_prefix("/data/") {
            *word = name;
        }
    }
    let made = parton(folder.path(), &["generate", "rmat:6", "graph.parton", "--quiet"]);
    assert!(made.status.success());
    let ran = parton(folder.path(), &command);
    assert!(ran.status.success(), "{command:?}: {}", text(&ran.stderr));
}

/// Pods on several machines mount the volume that is claimed, and may all write to it.
#[test]
fn the_volume_is_shared_by_all_workers() {
    let [claim, job] = claim_and_job();
    assert_eq!(claim["kind"], "PersistentVolumeClaim");
    assert_eq!(claim["spec"]["accessModes"], serde_json::json!(["ReadWriteMany"]));
    let pod = &job["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"];
    let volume = &pod["volumes"][0];
    assert_eq!(volume["persistentVolumeClaim"]["claimName"], claim["metadata"]["name"]);
    let mount = &pod["containers"][0]["volumeMounts"][0];
    assert_eq!(mount["name"], volume["name"]);
    let folder = mount["mountPath"].as_str().expect("a folder");
    assert!(file("Dockerfile").contains(&format!("WORKDIR {folder}\n")));
}

/// What the image copies is there; what it copies from another stage is what that stage builds.
#[test]
fn the_image_copies_what_there_is() {
    let image = file("Dockerfile");
    let stages: Vec<&str> = image.lines().filter_map(|line| line.strip_prefix("FROM ")).collect();
    let named = |stage: &str| stages.iter().any(|from| from.ends_with(&format!(" AS {stage}")));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut copies = 0;
    for copy in image.lines().filter_map(|line| line.strip_prefix("COPY ")) {
        let words: Vec<&str> = copy.split(' ').collect();
        let (sources, stage) = match words[0].strip_prefix("--from=") {
            Some(stage) => (&words[1..words.len() - 1], Some(stage)),
            None => (&words[..words.len() - 1], None),
        };
        assert!(!sources.is_empty(), "{copy}");
        copies += sources.len();
        for source in sources {
            match stage {
                Some(stage) => {
                    assert!(named(stage), "{copy}");
                    assert_eq!(*source, "/parton/target/dist/parton", "what cargo builds there");
                }
                None => assert!(root.join(source).exists(), "{copy}: no {source}"),
            }
        }
    }
    assert_eq!(copies, 4, "sources, the program, two licences");
    // A program for a system's C library runs on the same release of it.
    let releases: Vec<bool> = stages.iter().map(|from| from.contains("bookworm")).collect();
    assert_eq!(releases, [true, true], "{stages:?}");
}

/// What the image is made from is there, and the tools that workflows call are named as they are.
#[test]
fn images_and_workflows_name_what_there_is() {
    let (image, ignored) = (file("Dockerfile"), file(".dockerignore"));
    for needed in ["Cargo.toml", "Cargo.lock", "crates", "xtask", "LICENSE-MIT"] {
        assert!(!ignored.lines().any(|line| line == needed), "{needed} does not reach the image");
    }
    assert!(file("Cargo.toml").contains("[profile.dist]") && image.contains("--profile dist"));
    let toolchain = image.lines().find_map(|line| line.strip_prefix("FROM rust:")).expect("Rust");
    let version = toolchain.split('-').next().expect("a version");
    let workspace = file("Cargo.toml");
    assert!(workspace.contains(&format!("rust-version = \"{version}\"")), "{version}");
    for (workflow, step) in [
        ("test", "run: cargo xtask test"),
        ("test", "run: cargo test --package parton --features remote --test remote"),
        ("release", "run: cargo xtask release"),
    ] {
        assert!(file(&format!(".github/workflows/{workflow}.yml")).contains(step), "{workflow}");
    }
}
