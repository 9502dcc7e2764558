//! The words that names of columns consist of, and what each says.

/// Words for the two ends of an edge, the source first.
pub(super) const PAIRS: &[(&str, &str)] = &[
    ("source", "target"),
    ("source", "destination"),
    ("source", "dest"),
    ("source", "dst"),
    ("source", "sink"),
    ("src", "dst"),
    ("src", "dest"),
    ("src", "destination"),
    ("src", "target"),
    ("src", "tgt"),
    ("src", "trg"),
    ("from", "to"),
    ("origin", "destination"),
    ("origin", "dest"),
    ("orig", "dest"),
    ("follower", "followee"),
    ("follower", "followed"),
    ("follower", "following"),
    ("sender", "receiver"),
    ("sender", "recipient"),
    ("caller", "callee"),
    ("citing", "cited"),
    ("payer", "payee"),
    ("truster", "trustee"),
    ("trustor", "trustee"),
    ("subject", "object"),
    ("parent", "child"),
    ("quelle", "ziel"),
    ("von", "nach"),
    ("origen", "destino"),
];

/// The same, for words that are often the names of something else.
const WEAK_PAIRS: &[(&str, &str)] = &[
    ("start", "end"),
    ("u", "v"),
    ("i", "j"),
    ("1", "2"),
    ("a", "b"),
    ("head", "tail"),
    ("tail", "head"),
    ("row", "col"),
    ("row", "column"),
    ("user", "item"),
    ("user", "movie"),
    ("user", "product"),
    ("reviewer", "product"),
    ("author", "paper"),
];

/// Words for what an edge carries.
const WEIGHTS: &[&str] = &[
    "weight",
    "w",
    "wt",
    "value",
    "val",
    "cost",
    "distance",
    "dist",
    "amount",
    "length",
    "len",
    "capacity",
    "count",
    "strength",
    "score",
    "rating",
    "km",
    "miles",
    "metres",
    "meters",
    "duration",
    "volume",
    "freq",
    "frequency",
    "similarity",
    "correlation",
    "sign",
    "gewicht",
    "peso",
    "poids",
];
/// Words for a weight before all others.
const PLAIN_WEIGHTS: &[&str] = &["weight", "w"];

/// Words for columns that are neither an end of an edge nor its weight.
const OTHERS: &[&str] = &[
    "id",
    "uuid",
    "index",
    "idx",
    "key",
    "label",
    "labels",
    "type",
    "kind",
    "name",
    "timestamp",
    "ts",
    "date",
    "datetime",
    "year",
    "month",
    "since",
    "created",
    "updated",
    "timeset",
    "interval",
    "relation",
    "relationship",
    "predicate",
    "rownames",
    "rownum",
    "comment",
    "note",
    "description",
    "direction",
    "directed",
];
/// Words for a weight or for a moment.
const TIMES: &[&str] = &[
    "time", "t", "epoch", "clock", "ms", "sec", "secs", "second", "minute", "hour", "day",
    "weekday", "week", "quarter", "decade", "at",
];

/// Words that say nothing beside others.
const FILLERS: &[&str] = &["id", "ids", "node", "vertex", "key"];

/// A column's name in words.
pub(super) struct Name {
    words: Vec<String>,
    has_id: bool,
}

impl Name {
    pub(super) fn of(name: &str) -> Self {
        // Neo4j: `since:int`, `:START_ID(Person)`, `person:START_ID`. Units: `distance (km)`.
        let name = name.split('(').next().unwrap_or(name);
        let (before, after) = name.rsplit_once(':').unwrap_or((name, ""));
        let name = match after {
            "START_ID" => "source id",
            "END_ID" => "target id",
            "TYPE" | "LABEL" | "ID" => after,
            _ if before.trim().is_empty() => after,
            _ => before,
        };
        let mut words: Vec<String> = Vec::new();
        let (mut last, mut has_id) = (' ', false);
        for c in name.chars() {
            let goes_on = c.is_alphanumeric()
                && last.is_alphanumeric()
                && c.is_numeric() == last.is_numeric()
                && !(c.is_uppercase() && last.is_lowercase());
            match words.last_mut() {
                Some(word) if goes_on => word.extend(c.to_lowercase()),
                _ if c.is_alphanumeric() => words.push(c.to_lowercase().collect()),
                _ => {}
            }
            last = c;
        }
        for word in &mut words {
            has_id |= word == "id";
            if let Some((end, id)) = peeled(word) {
                has_id |= id;
                *word = end;
            }
        }
        let telling: Vec<String> =
            words.iter().filter(|word| !FILLERS.contains(&&word[..])).cloned().collect();
        let words = if telling.is_empty() { words } else { telling };
        Name { words, has_id }
    }

    pub(super) fn is_one_of(&self, known: &[&str]) -> bool {
        matches!(&self.words[..], [word] if known.contains(&&word[..]))
    }

    pub(super) fn is_weight(&self) -> bool {
        let last = self.words.last();
        let of_an_end = self.words.iter().any(|word| is_end(word) && word.len() > 2);
        last.is_some_and(|word| is_listed(word, WEIGHTS)) && !of_an_end && !self.has_id
    }

    /// Whether it says that the column holds ids.
    pub(super) fn has_id(&self) -> bool {
        self.has_id
    }

    /// Whether the column may hold moments as well as weights: `travel_time`, `unixtime`, `created_at`.
    pub(super) fn is_time(&self) -> bool {
        let is_time = |word: &String| is_listed(word, TIMES) || word.ends_with("time");
        self.words.last().is_some_and(is_time) && !self.is_other()
    }

    /// How surely this is the name of a weight: 0 is the surest.
    pub(super) fn weight_rank(&self) -> Option<usize> {
        if self.has_id {
            return None;
        }
        [self.is_one_of(PLAIN_WEIGHTS), self.is_one_of(WEIGHTS), self.is_weight()]
            .into_iter()
            .position(|is_weight| is_weight)
    }

    pub(super) fn is_other(&self) -> bool {
        self.words.last().is_some_and(|word| OTHERS.contains(&&word[..]))
    }
}

/// Whether a word, or what it is the plural of, is on a list.
fn is_listed(word: &str, list: &[&str]) -> bool {
    list.contains(&word) || word.strip_suffix('s').is_some_and(|singular| list.contains(&singular))
}

fn pairs() -> impl Iterator<Item = (&'static (&'static str, &'static str), bool)> {
    PAIRS.iter().map(|pair| (pair, false)).chain(WEAK_PAIRS.iter().map(|pair| (pair, true)))
}

fn is_end(word: &str) -> bool {
    pairs().any(|((source, destination), _)| word == *source || word == *destination)
}

/// The word for an end in `fromnodeid`, and whether it is an id's.
fn peeled(word: &str) -> Option<(String, bool)> {
    let (mut rest, mut has_id) = (word, false);
    while !is_end(rest) {
        let filler =
            FILLERS.iter().find(|filler| rest.len() > filler.len() && rest.ends_with(**filler));
        has_id |= filler == Some(&"id");
        rest = &rest[..rest.len() - filler?.len()];
    }
    (rest.len() < word.len()).then(|| (rest.to_owned(), has_id))
}

/// Whether two names are those of the ends of an edge, and how surely: less is surer.
pub(super) fn pair_rank(source: &Name, destination: &Name) -> Option<(bool, usize, bool)> {
    let words = source.words.len();
    if words != destination.words.len() {
        return None;
    }
    let mut differing = source.words.iter().zip(&destination.words).filter(|(a, b)| a != b);
    let (from, to) = differing.next().filter(|_| differing.next().is_none())?;
    let (_, is_weak) = pairs().find(|((s, d), _)| from == s && to == d)?;
    // `a` and `b` alone may be anything.
    let is_letter = from == "a" && words == 1;
    (!is_letter).then_some((is_weak, words, !(source.has_id && destination.has_id)))
}
