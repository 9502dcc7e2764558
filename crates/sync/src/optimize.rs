//! Which of Gluon's communication optimisations to use (Dathathri et al., PLDI'18).

/// Which optimisations to use. All of them, unless their worth is to be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Optimize {
    /// Structural: only mirrors that can be written take part in a reduce, and only mirrors that are
    /// read in a broadcast. Without it every mirror takes part in both.
    pub structural: bool,
    /// Temporal: both ends of a route know its order, so that messages name places on it, coded as
    /// small as can be. Without it each value travels with its vertex's global id.
    pub temporal: bool,
}

impl Optimize {
    /// Both.
    pub const ALL: Optimize = Optimize { structural: true, temporal: true };
    /// Neither.
    pub const NONE: Optimize = Optimize { structural: false, temporal: false };
    /// Every way to choose, by the name users give.
    pub const NAMES: [(&str, Optimize); 4] = [
        ("all", Optimize::ALL),
        ("none", Optimize::NONE),
        ("structural", Optimize { structural: true, temporal: false }),
        ("temporal", Optimize { structural: false, temporal: true }),
    ];

    /// What users call it.
    pub fn name(self) -> &'static str {
        let (name, _) = Self::NAMES.iter().find(|(_, known)| *known == self).expect("all four");
        name
    }
}
