//! What a run writes besides its talk: rows of the answer, a page, the report on standard output.

use std::path::{Path, PathBuf};

use clap::Args;

use super::report::Report;
use super::target::{Target, is_same_file, is_standard};
use super::{Failure, Team, Watch, html, output};
use crate::graph::save::Output;
use serde_json::json;

/// What a run writes, and in which form.
#[derive(Args)]
pub(super) struct WriteArguments {
    /// Write a row per vertex: .csv, .tsv, .jsonl (each may be compressed: .gz, .zst), .parquet, .npy;
    /// a name that ends in / is a new folder with a part from each host; `-` is standard output, and
    /// the report then goes to standard error
    #[arg(long, value_name = "FILE|FOLDER/|-")]
    output: Option<PathBuf>,

    /// The format of --output [default: what the ending of its name says; csv if it has none]
    #[arg(long, value_name = "NAME", value_parser = output_formats(), requires = "output")]
    output_format: Option<String>,

    /// Print the report as one JSON object instead of text
    #[arg(long)]
    json: bool,

    /// Write the report as a page with plots
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
}

impl WriteArguments {
    /// The target of the rows, if any. An error if a file that was asked for cannot be written, or would replace one of
    /// those that are `read`.
    pub(super) fn check(
        &self,
        read: &[(&str, &Path)],
        team: &Team,
    ) -> Result<Option<Target>, Failure> {
        self.refuse_one_file_for_two(read)?;
        let format = self.output_format.as_deref();
        let target = self.output.as_deref().map(|path| Target::new(path, format, team));
        let target = target.transpose()?;
        if let Some(path) = self.report.as_ref().filter(|_| team.speaks()) {
            Output::check(path)?;
        }
        Ok(target)
    }

    /// Refuses a request whose report would replace its rows, or whose rows or report would replace a file that it
    /// reads.
    fn refuse_one_file_for_two(&self, read: &[(&str, &Path)]) -> Result<(), Failure> {
        if self.json && self.has_rows_on_standard_output() {
            return Err(Failure::usage(
                "--json and --output - both write to standard output: give --output a file",
            ));
        }
        let output = self.output.as_deref().map(|path| ("--output", path));
        let report = self.report.as_deref().map(|path| ("--report", path));
        let pairs = read.iter().flat_map(|&read| [(output, Some(read)), (report, Some(read))]);
        for pair in pairs.chain([(output, report)]) {
            if let (Some((what, path)), Some((other, known))) = pair
                && is_same_file(path, known)
            {
                return Err(Failure::usage(format!(
                    "{what} and {other} are both {}: give each a file of its own",
                    known.display()
                )));
            }
        }
        Ok(())
    }

    /// True if a page with plots is written.
    pub(super) fn has_page(&self) -> bool {
        self.report.is_some()
    }

    /// Writes the page, if one was asked for.
    pub(super) fn write_page(
        &self,
        report: &Report,
        watch: &Watch,
        team: &Team,
    ) -> Result<(), Failure> {
        if let Some(path) = self.report.as_ref().filter(|_| team.speaks()) {
            let mut page = Output::create(path)?;
            page.write(html::page(report, &watch.signed(json!({}))).as_bytes())?;
            page.commit()?;
            watch.note(&format!("wrote {}", path.display()));
        }
        Ok(())
    }

    /// The report for standard output. Where rows are there, the report goes to standard error.
    pub(super) fn text(&self, report: &Report, watch: &Watch) -> String {
        let text = match self.json {
            true => format!("{:#}\n", watch.signed(report.as_json())),
            false => report.as_text(),
        };
        if self.has_rows_on_standard_output() {
            watch.note(text.trim_end());
            return String::new();
        }
        text
    }

    fn has_rows_on_standard_output(&self) -> bool {
        self.output.as_deref().is_some_and(is_standard)
    }
}

/// Names of the formats of answers.
fn output_formats() -> clap::builder::PossibleValuesParser {
    output::ALL.iter().map(|format| format.ending()).collect::<Vec<_>>().into()
}
