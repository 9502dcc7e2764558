//! What is meant to stay as it is: `xtask/tidy.toml`, a section per check, a reason per entry.
//!
//! A key that ends in `/` or `*` covers all that start so. An entry that covers nothing is a
//! finding itself, so the list never outlives what it excuses.

use super::Finding;

pub(super) const PATH: &str = "xtask/tidy.toml";

struct Entry {
    line: usize,
    check: String,
    key: String,
}

impl Entry {
    fn covers(&self, key: &str) -> bool {
        match self.key.strip_suffix('*') {
            Some(start) => key.starts_with(start),
            None if self.key.ends_with('/') => key.starts_with(&self.key),
            None => key == self.key,
        }
    }
}

/// The entries of the file.
pub(super) struct Accepted {
    entries: Vec<Entry>,
}

impl Accepted {
    /// Reads `[check]` and `"key" = "reason"` lines; a line that is neither is a finding.
    pub(super) fn parse(text: &str) -> (Accepted, Vec<Finding>) {
        let (mut check, mut entries, mut findings) = (String::new(), Vec::new(), Vec::new());
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let name = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
            let pair = line.strip_prefix('"').and_then(|rest| rest.split_once("\" = \""));
            if let Some(name) =
                name.filter(|name| super::ALL.iter().any(|(known, _)| known == name))
            {
                check = name.to_owned();
            } else if let Some((key, _)) =
                pair.filter(|(_, reason)| reason.trim_matches('"').len() > 8)
            {
                entries.push(Entry { line: at + 1, check: check.clone(), key: key.to_owned() });
            } else {
                findings.push(finding(at + 1, "write `[check]` or `\"key\" = \"reason\"`"));
            }
        }
        (Accepted { entries }, findings)
    }

    /// A check's findings that no entry covers, and its entries that cover none.
    pub(super) fn judge(&self, check: &str, found: Vec<Finding>) -> Vec<Finding> {
        let entries: Vec<_> = self.entries.iter().filter(|entry| entry.check == check).collect();
        let idle = entries.iter().filter(|entry| !found.iter().any(|f| entry.covers(&f.key)));
        let idle = idle.map(|entry| {
            finding(entry.line, &format!("'{}' is no longer found: remove the entry", entry.key))
        });
        let mut left: Vec<_> = idle.collect();
        left.extend(
            found.into_iter().filter(|f| !entries.iter().any(|entry| entry.covers(&f.key))),
        );
        left
    }
}

fn finding(line: usize, what: &str) -> Finding {
    Finding { path: PATH.into(), line, key: String::new(), what: what.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(key: &str) -> Finding {
        Finding { path: "a.rs".into(), line: 1, key: key.into(), what: String::new() }
    }

    #[test]
    fn entries_cover_what_they_name_and_must_cover_something() {
        let text =
            "# why\n[sizes]\n\"a.rs\" = \"one table of rows\"\n\"b/\" = \"not written by hand\"\n";
        let (accepted, wrong) = Accepted::parse(text);
        assert!(wrong.is_empty());
        let left = accepted.judge("sizes", vec![found("a.rs"), found("b/c.rs"), found("d.rs")]);
        assert_eq!(left.iter().map(|f| &*f.key).collect::<Vec<_>>(), ["d.rs"]);
        let left = accepted.judge("sizes", vec![found("a.rs")]);
        assert!(left.len() == 1 && left[0].line == 4, "{left:?}");
        assert_eq!(accepted.judge("words", vec![found("a.rs")]).len(), 1);
    }

    #[test]
    fn a_line_without_a_reason_is_found() {
        let (_, wrong) = Accepted::parse("[sizes]\n\"a.rs\" = \"\"\n[unheard]\na.rs\n");
        assert_eq!(wrong.iter().map(|f| f.line).collect::<Vec<_>>(), [2, 3, 4]);
    }
}
