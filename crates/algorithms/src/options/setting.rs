//! Types of options: how a value is read from a text, and shown.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use parton_graph::Graph;

use super::Takes;

/// The type of an option.
pub trait Setting: Sized {
    /// What the option takes.
    const TAKES: Takes = Takes::Text;

    /// What a value is called in usage texts, unless the declaration says otherwise.
    fn value_name() -> String;

    /// Reads a value. An error says what was expected.
    fn parse(text: &str) -> Result<Self, String>;

    /// The value as a text that [`parse`](Self::parse) reads, if it has one.
    fn text(&self) -> Option<String>;

    /// Takes a graph beside the input.
    fn from_graph(_: Arc<Graph>) -> Result<Self, String> {
        Err("expected a text".into())
    }

    /// Checks a text. Returns the text under which the same value is always shown; where values
    /// come from a file, that is its name.
    fn normalized(text: &str) -> Result<String, String> {
        Self::parse(text).map(|_| text.to_owned())
    }
}

/// A type of few values, each with a name.
pub trait Choice: Copy + PartialEq + 'static {
    /// All values with their names.
    const NAMES: &'static [(&'static str, Self)];
}

fn names<T: Choice>(separator: &str) -> String {
    T::NAMES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(separator)
}

impl<T: Choice> Setting for T {
    fn value_name() -> String {
        names::<T>("|")
    }

    fn parse(text: &str) -> Result<Self, String> {
        let named = T::NAMES.iter().find(|(name, _)| *name == text);
        named.map(|(_, value)| *value).ok_or_else(|| format!("expected {}", names::<T>(" or ")))
    }

    fn text(&self) -> Option<String> {
        T::NAMES.iter().find(|(_, value)| value == self).map(|(name, _)| (*name).into())
    }
}

macro_rules! whole_number {
    ($($type:ty),+) => {$(
        impl Setting for $type {
            fn value_name() -> String {
                "N".into()
            }

            fn parse(text: &str) -> Result<Self, String> {
                text.parse().map_err(|_| {
                    format!("expected a whole number of at most {}", <$type>::MAX)
                })
            }

            fn text(&self) -> Option<String> {
                Some(self.to_string())
            }

            fn normalized(text: &str) -> Result<String, String> {
                Self::parse(text).map(|number| number.to_string())
            }
        }
    )+};
}

whole_number!(u32, u64, usize);

impl Setting for f64 {
    fn value_name() -> String {
        "X".into()
    }

    fn parse(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| "expected a number".into())
    }

    fn text(&self) -> Option<String> {
        let (plain, scientific) = (self.to_string(), format!("{self:e}"));
        Some(if scientific.len() < plain.len() { scientific } else { plain })
    }

    fn normalized(text: &str) -> Result<String, String> {
        Self::parse(text).map(|number| number.to_string())
    }
}

/// A flag.
impl Setting for bool {
    const TAKES: Takes = Takes::Nothing;

    fn value_name() -> String {
        String::new()
    }

    fn parse(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| "expected true or false".into())
    }

    fn text(&self) -> Option<String> {
        Some(self.to_string())
    }
}

/// Original ids of vertices, as a list or in a file.
impl Setting for Vec<String> {
    fn value_name() -> String {
        "ID,…|FILE".into()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let path = Path::new(text);
        if text.contains(',') || !path.is_file() {
            let ids = text.split(',').map(str::trim).filter(|id| !id.is_empty());
            return Ok(ids.map(str::to_owned).collect());
        }
        let lines = fs::read_to_string(path)
            .map_err(|error| format!("cannot read a vertex from each line: {error}"))?;
        let lines = lines.lines().map(str::trim);
        let ids = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        Ok(ids.map(str::to_owned).collect())
    }

    fn text(&self) -> Option<String> {
        Some(self.join(","))
    }
}

/// A graph beside the input.
impl Setting for Arc<Graph> {
    const TAKES: Takes = Takes::Graph;

    fn value_name() -> String {
        "FILE".into()
    }

    fn parse(_: &str) -> Result<Self, String> {
        Err("expected a graph".into())
    }

    fn text(&self) -> Option<String> {
        None
    }

    fn from_graph(graph: Arc<Graph>) -> Result<Self, String> {
        Ok(graph)
    }
}

/// A value that need not be given.
impl<T: Setting> Setting for Option<T> {
    const TAKES: Takes = T::TAKES;

    fn value_name() -> String {
        T::value_name()
    }

    fn parse(text: &str) -> Result<Self, String> {
        T::parse(text).map(Some)
    }

    fn text(&self) -> Option<String> {
        self.as_ref().and_then(T::text)
    }

    fn from_graph(graph: Arc<Graph>) -> Result<Self, String> {
        T::from_graph(graph).map(Some)
    }

    fn normalized(text: &str) -> Result<String, String> {
        T::normalized(text)
    }
}
