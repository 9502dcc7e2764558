//! Programs that are refused, as their authors see it: every message of the compiler, at its place. Each file in
//! `refused` lies beside what rustc says of it. The variable `PARTON_RECORD` has the messages written anew.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// How rustc ends.
const ENDS: [&str; 2] = ["error: aborting due to ", "For more information about "];

/// The library with the macros. It lies beside this program; Cargo leaves older ones there.
fn macros() -> PathBuf {
    let program = std::env::current_exe().expect("this program");
    let folder = program.parent().expect("its folder");
    let files = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path());
    let libraries = files.filter(|file| {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with(&format!("{}parton_macros-", std::env::consts::DLL_PREFIX))
            && name.ends_with(std::env::consts::DLL_SUFFIX)
    });
    let age = |file: &PathBuf| file.metadata().and_then(|about| about.modified());
    let newest = libraries.max_by_key(|file| age(file).unwrap_or(SystemTime::UNIX_EPOCH));
    newest.expect("the library of the macros beside this program")
}

/// What rustc says of a program, without how it ends.
fn messages(file: &Path, macros: &Path, folder: &Path) -> String {
    let named = |name: &str, path: &Path| {
        let mut argument = OsString::from(name);
        argument.push(path);
        argument
    };
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
    rustc.args(["--edition=2024", "--crate-type=bin", "--emit=metadata", "--out-dir"]);
    rustc.arg(folder).arg("--extern").arg(named("parton_macros=", macros)).arg(file);
    let output = rustc.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("rustc runs");
    assert!(!output.status.success(), "{} is not refused", file.display());
    let said = String::from_utf8(output.stderr).expect("text");
    let lines = said.lines().filter(|line| !ENDS.iter().any(|end| line.starts_with(end)));
    let said: String = lines.map(|line| format!("{line}\n")).collect();
    format!("{}\n", said.trim_end())
}

#[test]
fn refusals_say_where_why_and_what_to_write_instead() {
    let (macros, folder) = (macros(), Path::new(env!("CARGO_TARGET_TMPDIR")));
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/refused");
    let all = fs::read_dir(all).expect("a folder").map(|entry| entry.expect("a file").file_name());
    let all = all.map(|name| Path::new("tests/refused").join(name));
    let programs: Vec<_> =
        all.filter(|file| file.extension().is_some_and(|ending| ending == "rs")).collect();
    assert!(programs.len() >= 13, "{programs:?}");
    for program in &programs {
        let said = messages(program, &macros, folder);
        let record = Path::new(env!("CARGO_MANIFEST_DIR")).join(program.with_extension("stderr"));
        if std::env::var_os("PARTON_RECORD").is_some() {
            fs::write(&record, &said).expect("a file that can be written");
        }
        let expected = fs::read_to_string(&record).unwrap_or_default();
        assert!(
            said == expected,
            "{}: rustc says\n{said}\ninstead of\n{expected}",
            program.display()
        );
    }
}
