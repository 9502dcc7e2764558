//! Which columns of a table hold sources, destinations and weights, by their names.
//!
//! Text tables, Parquet and every other format with named columns choose by the same rules. A name is
//! cut into words: `FromNodeId`, `from_node` and `~from` all say *from*. Two columns hold the ends of
//! an edge if their words are the same but for one, which is *from* in the one and *to* in the other,
//! or another [pair](words::PAIRS). Names that fit twice leave a doubt, and a doubt is an error that shows
//! the columns: a guess would answer a question that nobody asked.

mod words;

use crate::error::printable;
use words::{Name, pair_rank};

/// What is known of a column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column<'a> {
    /// Its name; empty if it has none.
    pub(crate) name: &'a str,
    /// Whether it holds numbers.
    pub(crate) is_number: bool,
    /// Whether it counts the rows.
    pub(crate) counts: bool,
}

/// The columns of an edge, by position from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) source: usize,
    pub(crate) destination: usize,
    pub(crate) weight: Option<usize>,
}

/// Columns whose names say that they are the two ends of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    pub(crate) source: usize,
    pub(crate) destination: usize,
    /// Whether the names might be those of something else: `u` and `v`, `start` and `end`.
    pub(crate) is_weak: bool,
    /// Whether the names of two other columns say as much.
    pub(crate) is_tied: bool,
}

/// Names beyond these many columns are not looked at.
const MAX_NAMED_COLUMNS: usize = 256;
/// How many columns a message names.
const SHOWN_COLUMNS: usize = 20;

/// How many characters of a name.
const SHOWN_CHARACTERS: usize = 40;

/// The columns whose names say most surely that they are the ends of an edge.
pub(crate) fn ends(names: &[&str]) -> Option<Ends> {
    let named = &names[..names.len().min(MAX_NAMED_COLUMNS)];
    let has_letter = |name: &&str| name.chars().any(char::is_alphabetic);
    let names: Vec<Option<Name>> =
        named.iter().map(|name| has_letter(name).then(|| Name::of(name))).collect();
    let mut best: Option<((bool, usize, bool), Ends)> = None;
    for (source, from) in names.iter().enumerate() {
        for (destination, to) in names.iter().enumerate() {
            let (Some(from), Some(to)) = (from, to) else { continue };
            let Some(rank) = pair_rank(from, to) else { continue };
            match &mut best {
                Some((known, ends)) if *known == rank => ends.is_tied = true,
                Some((known, _)) if *known < rank => {}
                _ => {
                    let ends = Ends { source, destination, is_weak: rank.0, is_tied: false };
                    best = Some((rank, ends));
                }
            }
        }
    }
    best.map(|(_, ends)| ends)
}

/// Whether a name says what a column of numbers holds.
pub(crate) fn names_numbers(name: &str) -> bool {
    let name = Name::of(name);
    name.is_weight() || name.is_other() || name.is_time()
}

/// How surely a name is that of a weight: 0 is the surest, `None` is no weight's.
pub(crate) fn weight_rank(name: &str) -> Option<usize> {
    Name::of(name).weight_rank()
}

/// Whether a column is called a kind of edges: Gephi's `Type`.
pub(crate) fn is_type(name: &str) -> bool {
    Name::of(name).is_one_of(&["type"])
}

/// Chooses the columns of an edge; the weight only if it is `wanted`. An error is what is unclear, in
/// words that show the columns.
pub(crate) fn choose(columns: &[Column<'_>], wanted: bool) -> Result<Choice, String> {
    let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
    let (source, destination) = match ends(&names) {
        Some(Ends { source, destination, is_tied: false, .. }) => (source, destination),
        Some(Ends { source, destination, .. }) => {
            return Err(doubt(&names, "the ends of an edge", &[source, destination]));
        }
        None => ends_by_place(columns)?,
    };
    let weight = match wanted {
        true => weight(columns, source, destination)?,
        false => None,
    };
    Ok(Choice { source, destination, weight })
}

/// The ends of an edge where no names tell: the two columns, or the two before the weight.
fn ends_by_place(columns: &[Column<'_>]) -> Result<(usize, usize), String> {
    let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
    if columns.len() < 2 {
        return Err(format!("an edge needs two columns, found {}", columns.len()));
    }
    let may_be_end = |&place: &usize| {
        let is_index = place == 0 && names[0].is_empty() || is_index(names[place]);
        !is_index && !names_numbers(names[place])
    };
    let ends: Vec<usize> = (0..columns.len()).filter(may_be_end).collect();
    let counts = |place: usize| columns[place].counts && columns.len() > 2;
    match ends[..] {
        [source, destination] if !counts(source) => Ok((source, destination)),
        [source, destination, weight] if columns[weight].is_number && !counts(source) => {
            Ok((source, destination))
        }
        _ => {
            let first = if ends.len() < 2 { vec![0, 1] } else { ends };
            let from = usize::from(first.len() > 2 && counts(first[0]));
            Err(doubt(&names, "the ends of an edge", &first[from..from + 2]))
        }
    }
}

/// Whether a name is that of row labels which programs write beside a table.
fn is_index(name: &str) -> bool {
    name.starts_with("__index_level_") || name.starts_with("Unnamed: ")
}

/// The weight: a column that is called so, or the only further one if it holds numbers.
fn weight(
    columns: &[Column<'_>],
    source: usize,
    destination: usize,
) -> Result<Option<usize>, String> {
    let further: Vec<(usize, Name)> = (0..columns.len().min(MAX_NAMED_COLUMNS))
        .filter(|&place| place != source && place != destination)
        .filter(|&place| {
            !(is_index(columns[place].name) || place == 0 && columns[0].name.is_empty())
        })
        .map(|place| (place, Name::of(columns[place].name)))
        .collect();
    let names = || columns.iter().map(|column| column.name).collect::<Vec<_>>();
    let mut ranked: Vec<(usize, usize)> =
        further.iter().filter_map(|(place, name)| Some((name.weight_rank()?, *place))).collect();
    ranked.sort_unstable();
    match ranked[..] {
        [] => {}
        [(rank, place), (next, _), ..] if rank == next => {
            return Err(doubt(&names(), "the weight", &[source, destination, place]));
        }
        [(_, place), ..] => return Ok(Some(place)),
    }
    let unknown: Vec<&(usize, Name)> =
        further.iter().filter(|(_, name)| !name.is_other() && !name.has_id()).collect();
    match unknown[..] {
        [(only, name)] if columns[*only].is_number => match name.is_time() {
            true => Err(doubt(&names(), "the weight", &[source, destination, *only])),
            false => Ok(Some(*only)),
        },
        _ => Ok(None),
    }
}

/// Names of columns in a message, as many as it has room for.
pub(crate) fn shown<'n>(names: impl Iterator<Item = &'n str>, between: &str) -> String {
    const MAX_BYTES: usize = 300;
    let mut text = String::new();
    for (number, name) in names.enumerate() {
        if number > 0 {
            text += between;
        }
        if number == SHOWN_COLUMNS || text.len() > MAX_BYTES {
            return text + "…";
        }
        text += &printable(name.as_bytes()).chars().take(SHOWN_CHARACTERS).collect::<String>();
    }
    text
}

/// What is unclear, the columns, and what would say it, such as these.
fn doubt(names: &[&str], what: &str, such_as: &[usize]) -> String {
    let usable = |&place: &usize| {
        let name = names[place];
        let unique = names.iter().filter(|other| **other == name).count() == 1;
        let is_short = name.len() <= SHOWN_CHARACTERS;
        unique
            && is_short
            && !name.is_empty()
            && !name.contains(',')
            && name.parse::<usize>().is_err()
    };
    let such_as: Vec<String> = match such_as.iter().all(usable) {
        true => such_as.iter().map(|&place| printable(names[place].as_bytes())).collect(),
        false => such_as.iter().map(|place| (place + 1).to_string()).collect(),
    };
    format!(
        "cannot tell which columns are {what}; the header is: {}; say it with `columns`, such as \
         `columns` {}",
        shown(names.iter().copied(), ","),
        such_as.join(",")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The chosen columns of a header in which `*` marks numbers.
    fn chosen(header: &str) -> Result<(usize, usize, Option<usize>), String> {
        let column = |name: &'static str| {
            let plain = name.trim_end_matches('*');
            Column { name: plain, is_number: plain != name, counts: false }
        };
        let header: &'static str = header.to_owned().leak();
        let columns: Vec<_> = header.split(',').map(column).collect();
        let Choice { source, destination, weight } = choose(&columns, true)?;
        Ok((source, destination, weight))
    }

    #[test]
    fn names_of_many_programs() {
        for (header, expected) in [
            (",src,dst,w*", (1, 2, Some(3))),
            ("Source,Target,Type,Id,Label,Weight*", (0, 1, Some(5))),
            ("id*,from_user*,to_user*,amount*", (1, 2, Some(3))),
            ("since:int,:START_ID(Person),:END_ID(Person)", (1, 2, None)),
            ("userId:START_ID,score:float*,movieId:END_ID,:TYPE", (0, 2, Some(1))),
            ("~id,~from,~to,~label,weight:Double*", (1, 2, Some(4))),
            ("FromNodeId,ToNodeId", (0, 1, None)),
            ("to,from", (1, 0, None)),
            ("timestamp*,dst_id,src_id", (2, 1, None)),
            ("follower,followee", (0, 1, None)),
            ("protein1,protein2,combined_score*", (0, 1, Some(2))),
            ("source,target,source_label,target_label", (0, 1, None)),
            ("start_id,end_id,start_time,end_time", (0, 1, None)),
            ("source,target,start*,end*", (0, 1, None)),
            ("w*,other*,target_id,Source", (3, 2, Some(0))),
            ("from,to,km*", (0, 1, Some(2))),
            ("from,to,fare*", (0, 1, Some(2))),
            ("from,to,fare*,tax*", (0, 1, None)),
            ("userId*,movieId*,rating*,timestamp*", (0, 1, Some(2))),
            ("a,b,c*", (0, 1, Some(2))),
            ("who,whom", (0, 1, None)),
            ("src,dst,user_id*", (0, 1, None)),
            ("src,dst,weight_id*", (0, 1, None)),
            ("src,dst,trip_id*,fare*", (0, 1, Some(3))),
            ("who,whom,weight*", (0, 1, Some(2))),
            ("sourcenodeid,targetnodeid,distance (km)*", (0, 1, Some(2))),
        ] {
            assert_eq!(chosen(header), Ok(expected), "{header}");
        }
    }

    #[test]
    fn doubts_show_the_header_and_what_would_say_it() {
        for (header, said) in [
            ("src_ip,dst_ip,src_port*,dst_port*", "`columns` src_ip,dst_ip"),
            ("when,who,whom,amount*", "`columns` when,who"),
            ("source,target,distance*,cost*", "`columns` source,target,distance"),
            ("from,to,time*", "`columns` from,to,time"),
            ("from,to,departure_time*", "`columns` from,to,departure_time"),
            ("from,to,unixtime*", "`columns` from,to,unixtime"),
            ("from,to,hours*", "`columns` from,to,hours"),
            ("src,dst,created_at*", "`columns` src,dst,created_at"),
            ("u,v,t*", "`columns` u,v,t"),
            ("Id,Label", "`columns` Id,Label"),
            ("a,b,c,d", "`columns` a,b"),
        ] {
            let doubt = chosen(header).unwrap_err();
            assert!(doubt.contains(&header.replace('*', "")), "{doubt}");
            assert!(doubt.ends_with(said), "{header}: {doubt}");
        }
        assert!(chosen("a").unwrap_err().contains("needs two columns, found 1"));
    }
}
