//! `parton list`: what there is to choose from.

use clap::Args;
use parton::graph::{formats, generate};
use parton::partition::policies;

/// List the file formats, generators and policies Parton knows.
#[derive(Args)]
pub(crate) struct List {}

impl List {
    pub(crate) fn run(self) -> String {
        let mut text = String::from("Formats (read, and written where marked)\n");
        for format in formats::ALL {
            let written = if format.writer().is_some() { "written" } else { "" };
            let endings: Vec<_> = format.endings().iter().map(|e| format!(".{e}")).collect();
            text += &format!("  {:<14}{written:<9}{}\n", format.name(), endings.join(" "));
        }
        text += "\nGenerators (each may end in ,permute to shuffle ids)\n";
        for kind in generate::ALL {
            text += &format!("  {:<32}{}\n", kind.syntax, kind.help);
        }
        text += "\nPolicies\n";
        for kind in policies::ALL {
            text += &format!("  {:<32}{}\n", kind.usage(), kind.help);
        }
        text
    }
}
