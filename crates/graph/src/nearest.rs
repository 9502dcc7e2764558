//! The name that a misspelt one was probably meant to be, for messages.

/// What to add to a message about an unknown name: `: did you mean 'rmat'?`, or nothing if no known name is
/// close.
pub fn did_you_mean<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    match nearest(name, known) {
        Some(nearest) => format!(": did you mean '{nearest}'?"),
        None => String::new(),
    }
}

/// The known name with the fewest mistakes between it and `name`, if these are few for its length. Of several
/// the first.
pub fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let name = name.to_lowercase();
    let most = (name.chars().count().max(3) / 3).max(1);
    let with_mistakes =
        known.into_iter().map(|known| (mistakes(&name, &known.to_lowercase()), known));
    let few = with_mistakes.filter(|(mistakes, _)| *mistakes <= most);
    few.min_by_key(|(mistakes, _)| *mistakes).map(|(_, known)| known)
}

/// The fewest letters to add, leave out, replace, or swap with the next one, that turn one word into the
/// other (optimal string alignment).
fn mistakes(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_keyboard_are_understood() {
        let known = ["oec", "iec", "cvc", "hvc", "staggered", "fennel", "random"];
        for (name, expected) in [
            ("oce", Some("oec")),
            ("cvv", Some("cvc")),
            ("OEC", Some("oec")),
            ("fenel", Some("fennel")),
            ("fnenel", Some("fennel")),
            ("stagered", Some("staggered")),
            ("metis", None),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(nearest(name, known), expected, "{name}");
        }
        assert_eq!(did_you_mean("rmta", ["grid", "rmat"]), ": did you mean 'rmat'?");
        assert_eq!(did_you_mean("kronecker", ["grid", "rmat"]), "");
    }

    #[test]
    fn mistakes_are_counted_both_ways() {
        for (a, b, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("ab", "ba", 1),
            ("bfs", "dfs", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!((mistakes(a, b), mistakes(b, a)), (expected, expected), "{a} {b}");
        }
    }
}
