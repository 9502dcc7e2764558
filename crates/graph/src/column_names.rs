//! What the name of a column, a key or an attribute says about what it holds: one list for tables,
//! JSON, GraphML and GML.

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnRole {
    /// Where edges start.
    Source,
    /// Where edges end.
    Destination,
    /// What edges carry.
    Weight,
}

/// Names of each role, the most telling first; in lower case, without punctuation or an "id" at the
/// end.
const SOURCES: &[&str] =
    &["source", "src", "from", "u", "id1", "start", "sourcenode", "fromnode", "node1", "vertex1"];
const DESTINATIONS: &[&str] = &[
    "target",
    "destination",
    "dst",
    "dest",
    "to",
    "v",
    "id2",
    "end",
    "targetnode",
    "tonode",
    "node2",
    "vertex2",
];
const WEIGHTS: &[&str] =
    &["weight", "w", "value", "cost", "distance", "dist", "amount", "length", "capacity"];

const ROLES: [(ColumnRole, &[&str]); 3] = [
    (ColumnRole::Source, SOURCES),
    (ColumnRole::Destination, DESTINATIONS),
    (ColumnRole::Weight, WEIGHTS),
];

/// What a column of this name holds, and how telling the name is: 0 is the most telling.
pub(crate) fn role_of(name: &str) -> Option<(ColumnRole, usize)> {
    let name: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
    let name = name.to_lowercase();
    let name = name.strip_suffix("id").unwrap_or(&name);
    ROLES.into_iter().find_map(|(role, names)| {
        names.iter().position(|known| *known == name).map(|rank| (role, rank))
    })
}

/// The position of the name that tells most clearly of this role.
pub(crate) fn find<'n>(
    names: impl IntoIterator<Item = &'n str>,
    wanted: ColumnRole,
) -> Option<usize> {
    let ranks = names.into_iter().enumerate().filter_map(|(position, name)| {
        let (role, rank) = role_of(name)?;
        (role == wanted).then_some((rank, position))
    });
    ranks.min().map(|(_, position)| position)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_telling_name_is_found() {
        let names = ["id", "from", "Source_ID", "to", "value", "weight"];
        assert_eq!(find(names, ColumnRole::Source), Some(2));
        assert_eq!(find(names, ColumnRole::Destination), Some(3));
        assert_eq!(find(names, ColumnRole::Weight), Some(5));
        assert_eq!(find(["a", "b"], ColumnRole::Weight), None);
        assert_eq!(role_of(":START_ID").map(|(role, _)| role), Some(ColumnRole::Source));
    }
}
