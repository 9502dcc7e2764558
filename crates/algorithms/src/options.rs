//! What a user can ask of a run: [`Options`] that all algorithms share, and those of one algorithm.
//!
//! An algorithm declares its own options once, in its own file, with [`options!`](crate::options!):
//! names, types, defaults and help. Its [`OptionSet`] is a plain struct for the algorithm and for
//! callers in Rust; the command line, its help and `parton list` are made from
//! [`OptionSet::specs`].
//!
//! Messages of this crate name an option in backticks, as in Rust: `` `max_rounds` ``. The command
//! spells these as its users do: `--max-rounds`.

mod setting;

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use parton_engine::{EngineInfo, Pacing};
use parton_graph::Graph;

use crate::algorithm::Algorithm;
use crate::error::{Error, Result};
pub use setting::{Choice, Setting};

/// What a user asks of a run.
///
/// ```
/// use parton_algorithms::Options;
/// use parton_algorithms::pagerank::PageRankOptions;
///
/// let own = PageRankOptions { damping: 0.5, ..Default::default() };
/// let options = Options { max_rounds: Some(20), ..Options::default() }.with(own);
/// assert_eq!(options.own::<PageRankOptions>().damping, 0.5);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The engine; `None`: the algorithm chooses.
    pub engine: Option<&'static EngineInfo>,
    /// When hosts wait for each other.
    pub pacing: Pacing,
    /// Stop after this many rounds.
    pub max_rounds: Option<u64>,
    /// The algorithm's own options.
    pub own: Own,
}

/// The options that belong to one algorithm, whichever it is. By default the algorithm's defaults.
#[derive(Debug, Default)]
pub struct Own(Option<Box<dyn OptionSet>>);

/// The options that belong to one algorithm, declared with [`options!`](crate::options!).
pub trait OptionSet: Any + Debug + Send + Sync {
    /// What can be asked. The values of this set are the defaults.
    fn specs(&self) -> Vec<OptionSpec>;

    /// Sets one option. An error says what was expected.
    fn set(&mut self, name: &str, given: Given<'_>) -> Result<(), String>;

    /// A copy of this set.
    fn boxed(&self) -> Box<dyn OptionSet>;
}

/// The value of an option, as a user gives it.
#[derive(Clone, Debug)]
pub enum Given<'g> {
    /// Any value that has a text.
    Text(&'g str),
    /// A graph beside the input.
    Graph(Arc<Graph>),
}

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing: the option is a flag.
    Nothing,
    /// A text.
    Text,
    /// A graph beside the input, which the command reads in the same way as the input.
    Graph,
}

/// One option, as it is declared.
#[derive(Clone, Debug)]
pub struct OptionSpec {
    /// Its name in Rust.
    pub name: &'static str,
    /// What it does, without a full stop at the end.
    pub help: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// What its value is called in usage texts: `N`, or `power|residual`.
    pub value_name: String,
    /// The value of an option that is not given, if it has a text.
    pub default: Option<String>,
    /// What happens without a value, for options that have no default value.
    pub unset: Option<&'static str>,
    /// The value that benchmarks take instead of the default.
    pub measured: Option<&'static str>,
    /// Checks a text. Returns the text under which the same value is always shown.
    pub normalized: fn(&str) -> Result<String, String>,
}

impl OptionSpec {
    /// An option of this name, help text, and default.
    pub fn new<T: Setting>(name: &'static str, help: &'static str, default: &T) -> Self {
        OptionSpec {
            name,
            help: help.trim().trim_end_matches('.'),
            takes: T::TAKES,
            value_name: T::value_name(),
            default: default.text(),
            unset: None,
            measured: None,
            normalized: T::normalized,
        }
    }

    /// The same with another name for its value.
    pub fn value_name(mut self, name: &'static str) -> Self {
        self.value_name = name.into();
        self
    }

    /// The same, saying what happens without a value.
    pub fn unset(mut self, what: &'static str) -> Self {
        self.unset = Some(what);
        self
    }

    /// The same with another value in benchmarks.
    pub fn measured(mut self, value: &'static str) -> Self {
        self.measured = Some(value);
        self
    }

    /// What a user reads of an option that is not given.
    pub fn default_text(&self) -> Option<&str> {
        match self.takes {
            Takes::Nothing => None,
            Takes::Text | Takes::Graph => self.default.as_deref().or(self.unset),
        }
    }

    /// Whether another declaration means the same.
    fn means(&self, other: &OptionSpec) -> bool {
        let meaning = |spec: &OptionSpec| {
            (spec.help, spec.takes, spec.value_name.clone(), spec.default.clone(), spec.unset)
        };
        meaning(self) == meaning(other)
    }
}

impl Options {
    /// The same with these options of an algorithm.
    pub fn with(self, own: impl OptionSet) -> Self {
        Options { own: Own(Some(Box::new(own))), ..self }
    }

    /// The options of an algorithm; the defaults if none were given.
    pub fn own<T: OptionSet + Clone + Default>(&self) -> T {
        let own = self.own.0.as_deref().and_then(|own| (own as &dyn Any).downcast_ref::<T>());
        own.cloned().unwrap_or_default()
    }

    /// Sets one option of an algorithm, by its name.
    ///
    /// ```
    /// use parton_algorithms::options::Given;
    /// use parton_algorithms::pagerank::{PageRank, PageRankOptions};
    /// use parton_algorithms::Options;
    ///
    /// let mut options = Options::default();
    /// options.set(&PageRank, "damping", Given::Text("0.5"))?;
    /// assert_eq!(options.own::<PageRankOptions>().damping, 0.5);
    /// let error = options.set(&PageRank, "damping", Given::Text("half")).unwrap_err();
    /// assert_eq!(error.to_string(), "`damping` half: expected a number");
    /// # Ok::<(), parton_algorithms::Error>(())
    /// ```
    pub fn set(&mut self, algorithm: &dyn Algorithm, name: &str, given: Given<'_>) -> Result<()> {
        let defaults = algorithm.options();
        let known: Vec<_> = defaults.specs().iter().map(|spec| spec.name).collect();
        if !known.contains(&name) {
            let (algorithm, known) = (algorithm.name(), known.join(", "));
            let problem = format!("{algorithm} has no option `{name}`; its own are: {known}");
            return Err(Error::Request(problem));
        }
        check_own(algorithm, self)?;
        let shown = match given {
            Given::Text(text) => text.to_owned(),
            Given::Graph(_) => "a graph".into(),
        };
        let own = self.own.0.get_or_insert(defaults);
        own.set(name, given)
            .map_err(|problem| Error::Request(format!("`{name}` {shown}: {problem}")))
    }
}

impl Clone for Own {
    fn clone(&self) -> Self {
        Own(self.0.as_ref().map(|own| own.boxed()))
    }
}

/// The set without options.
impl OptionSet for () {
    fn specs(&self) -> Vec<OptionSpec> {
        Vec::new()
    }

    fn set(&mut self, _: &str, _: Given<'_>) -> Result<(), String> {
        Err("there are no options".into())
    }

    fn boxed(&self) -> Box<dyn OptionSet> {
        Box::new(())
    }
}

/// Reads the value of an option. The code that [`options!`](crate::options!) makes calls this.
pub fn read<T: Setting>(given: Given<'_>) -> Result<T, String> {
    match given {
        Given::Text(text) => T::parse(text),
        Given::Graph(graph) => T::from_graph(graph),
    }
}

/// Refuses options that belong to another algorithm.
pub(crate) fn check_own(algorithm: &dyn Algorithm, options: &Options) -> Result<()> {
    let kind = |own: &dyn OptionSet| (own as &dyn Any).type_id();
    match options.own.0.as_deref() {
        Some(own) if kind(own) != kind(&*algorithm.options()) => {
            let name = algorithm.name();
            Err(Error::Request(format!("{own:?} are options of another algorithm than {name}")))
        }
        _ => Ok(()),
    }
}

/// Checks that algorithms can share one command line: names of algorithms differ, every option has
/// help, and options of the same name mean the same.
pub fn check_declarations(algorithms: &[&dyn Algorithm]) -> Result<()> {
    let mut known: Vec<(&str, OptionSpec)> = Vec::new();
    for (place, algorithm) in algorithms.iter().enumerate() {
        let name = algorithm.name();
        if algorithms[..place].iter().any(|other| other.name() == name) {
            return Err(Error::Request(format!("there are two algorithms called {name}")));
        }
        for spec in algorithm.options().specs() {
            if spec.help.is_empty() {
                return Err(Error::Request(format!("`{}` of {name} has no help", spec.name)));
            }
            if let Some((other, _)) =
                known.iter().find(|(_, known)| known.name == spec.name && !known.means(&spec))
            {
                return Err(Error::Request(format!(
                    "`{}` means one thing to {other} and another to {name}",
                    spec.name
                )));
            }
            known.push((name, spec));
        }
    }
    Ok(())
}

/// Declares the options that belong to one algorithm: a struct with their defaults that is an
/// [`OptionSet`](crate::options::OptionSet).
///
/// The comment on a field is the help that users read. A field has a type that is a
/// [`Setting`](crate::options::Setting), a default, and, where the type does not say it, `value_name`:
/// what the value is called in usage texts. `unset` tells what happens where the default is `None`;
/// `measured` is a value that benchmarks take instead of the default.
///
/// ```
/// use parton_algorithms::options::OptionSet;
///
/// parton_algorithms::options! {
///     /// What one can ask of a walk.
///     pub struct WalkOptions {
///         /// How many steps to take.
///         steps: u64 = 10, value_name = "STEPS";
///         /// How far a step goes.
///         stride: Option<f64> = None, unset = "as far as the edge";
///     }
/// }
///
/// let specs = WalkOptions::default().specs();
/// assert_eq!((specs[0].name, specs[0].help), ("steps", "How many steps to take"));
/// assert_eq!(specs[0].default_text(), Some("10"));
/// assert_eq!(specs[1].default_text(), Some("as far as the edge"));
/// ```
#[macro_export]
macro_rules! options {
    (
        $(#[$about:meta])*
        $visibility:vis struct $set:ident {
            $(
                $(#[doc = $help:literal])+
                $name:ident: $type:ty = $default:expr $(, $key:ident = $text:literal)*;
            )+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        $visibility struct $set {
            $($(#[doc = $help])+ pub $name: $type,)+
        }

        impl Default for $set {
            fn default() -> Self {
                $set { $($name: $default),+ }
            }
        }

        impl $crate::options::OptionSet for $set {
            fn specs(&self) -> Vec<$crate::options::OptionSpec> {
                vec![$(
                    $crate::options::OptionSpec::new(
                        stringify!($name),
                        concat!($($help),+),
                        &self.$name,
                    )
                    $(.$key($text))*
                ),+]
            }

            fn set(
                &mut self,
                name: &str,
                given: $crate::options::Given<'_>,
            ) -> ::std::result::Result<(), String> {
                match name {
                    $(stringify!($name) => self.$name = $crate::options::read(given)?,)+
                    _ => return Err("there is no such option".into()),
                }
                Ok(())
            }

            fn boxed(&self) -> Box<dyn $crate::options::OptionSet> {
                Box::new(self.clone())
            }
        }
    };
}
