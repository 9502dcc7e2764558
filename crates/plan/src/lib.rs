//! What a compiled program consists of, as data: the compiler makes it, the engine for compiled programs
//! follows it, and `explain` prints it.
//!
//! The code of a program lies beside it: parts of operators and values outside operators are numbered here.

mod explain;

pub use explain::{json, text};

/// A compiled program, but for its code.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompiledPlan {
    /// Its name.
    pub name: String,
    /// Names of scalars; the first are its parameters.
    pub scalars: Vec<String>,
    /// How each scalar is folded over hosts, where operators do so.
    pub tallies: Vec<Option<Folding>>,
    /// Values per vertex: the program's fields first, then what the compiler added.
    pub columns: Vec<PlannedColumn>,
    /// Names of worklists.
    pub lists: Vec<String>,
    /// Loops over vertices.
    pub operators: Vec<PlannedOperator>,
    /// What happens between them, on all hosts alike. The program ends past the last instruction.
    pub instructions: Vec<Instruction>,
    /// The columns it returns.
    pub results: Vec<usize>,
    /// Whether it asks for out-degrees, and for in-degrees.
    pub degrees: [bool; 2],
    /// Which other form the program has, if any.
    pub shape: ProgramShape,
    /// Which engines run it where.
    pub fit: EngineFit,
}

/// Which engines run a program where, and why others do not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineFit {
    /// Forms that it does not have, each with the reason.
    pub refusals: Vec<(String, String)>,
    /// Names of the engines that run it, the one that suits first.
    pub engines: Vec<String>,
    /// Which engines do not run it on devices.
    pub off_devices: OffDevices,
}

/// Why a program does not run on devices; `None` where it does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OffDevices {
    /// By the engines for its form.
    pub form: Option<String>,
    /// Operator by operator.
    pub steps: Option<String>,
}

/// How values become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folding {
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// The sum.
    Sum,
    /// Whether any holds.
    Or,
}

/// A value per vertex.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedColumn {
    /// Its name: the field's, or what the compiler computes.
    pub name: String,
    /// Its type in Rust.
    pub ty: String,
    /// What it is for.
    pub role: ColumnRole,
    /// Whether other hosts ever see it.
    pub is_shared: bool,
}

impl PlannedColumn {
    /// Whether it is folded from contributions whose order shows: sums of real numbers are rounded.
    pub fn is_ordered(&self) -> bool {
        self.role == ColumnRole::Accumulator(Folding::Sum) && self.ty.starts_with('f')
    }
}

/// What a column is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnRole {
    /// A field of the program.
    Field,
    /// A value that vertices compute from what they alone know, for their edges.
    Hoisted,
    /// The same where only some vertices are active: it also tells the mirrors that they are.
    Message,
    /// A local that is needed again after the loop over edges.
    Saved,
    /// Contributions, folded where they arise and then at masters.
    Accumulator(Folding),
}

/// Which edges of its vertex an operator visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeDirection {
    /// Those that leave it.
    Out,
    /// Those that lead to it.
    In,
    /// All of them.
    Both,
}

/// An end of the edges that an operator visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeSide {
    /// The active vertex.
    Near,
    /// The neighbour.
    Far,
}

/// A loop over vertices, split into parts between which values travel.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedOperator {
    /// The program's name and the line.
    pub name: String,
    /// The worklist it drains; `None`: it visits all vertices.
    pub list: Option<usize>,
    /// Why any order of visits gives the same.
    pub class: Class,
    /// The edges it visits, if any.
    pub direction: Option<EdgeDirection>,
    /// Whether only some vertices visit their edges.
    pub is_partial: bool,
    /// What travels for its edges.
    pub traffic: OperatorTraffic,
    /// Columns that its masters write.
    pub writes: Vec<usize>,
    /// Scalars that it reads.
    pub scalars: Vec<usize>,
    /// Scalars that it folds values into.
    pub tallies: Vec<usize>,
    /// Numbers of values that must hold before it runs, with why.
    pub requires: Vec<(usize, String)>,
    /// Which parts it has.
    pub parts: Vec<OperatorPart>,
    /// What the loop does to fields, as it is written.
    pub accesses: Vec<PlannedAccess>,
    /// What became of its worklist, if it has one.
    pub elimination: Option<Elimination>,
}

/// What a loop does to a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedAccess {
    /// The column of the field.
    pub column: usize,
    /// What it does.
    pub kind: AccessKind,
    /// The end of the edges at which it does so; `None`: at its own vertex, whatever edges that has.
    pub side: Option<EdgeSide>,
}

/// What is done to a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// Its value is used.
    Read,
    /// It gets a value.
    Write,
    /// A value is folded in.
    Reduce(Folding),
}

/// How a worklist became a set of vertices that hosts keep for their own masters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Elimination {
    /// The members are the vertices at which the fold of a field changed it.
    ByChange {
        /// The column of the field.
        column: usize,
    },
    /// The master of a vertex asks, after its neighbours have contributed, whether it is a member.
    ByPredicate {
        /// What it asks.
        predicate: String,
    },
    /// A bit per vertex says whether it is a member.
    BySet,
}

/// What travels between hosts for the edges of an operator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperatorTraffic {
    /// Columns that edges read, where: they must be fresh there.
    pub reads: Vec<(usize, EdgeSide)>,
    /// Columns that tell mirrors that they are active.
    pub messages: Vec<usize>,
    /// Accumulators that edges fold into, where.
    pub folds: Vec<(usize, EdgeSide)>,
    /// Whether a contribution, of whatever value, also tells a neighbour that it was visited: then none may be
    /// sent that nobody made.
    pub tells_by_folds: bool,
}

/// Why any order of visits gives the same answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// No visit sees what another has written.
    Independent,
    /// Values only improve, until none does.
    Settling,
    /// Every vertex acts once, when a count has passed a threshold for good.
    Firing,
    /// Shares of a quantity flow on until what is left is small: equal up to the threshold.
    Flowing,
}

/// A part of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperatorPart {
    /// At all masters: what neighbours will read.
    Derive,
    /// At active masters, before their edges.
    Before,
    /// At edges.
    Edges,
    /// At active masters, after their edges.
    After,
    /// At masters that messages of their neighbours reached.
    Arrive,
}

/// What happens between operators. Values are numbers of expressions of the program's code.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are what the variants say")]
pub enum Instruction {
    /// A scalar is set.
    Assign { scalar: usize, value: usize, reads: Vec<usize> },
    /// A column starts, at masters, or at all proxies where all can compute it.
    Start { column: usize, value: usize, everywhere: bool, reads: Vec<usize> },
    /// The value of one vertex is set.
    Point { column: usize, vertex: usize, value: usize, reads: Vec<usize> },
    /// A worklist becomes empty, or has all vertices.
    Fill { list: usize, all: bool },
    /// A vertex joins a worklist.
    Join { list: usize, vertex: usize, reads: Vec<usize> },
    /// Two columns trade places.
    Swap(usize, usize),
    /// Goes on if the value holds, else at another instruction.
    Branch { condition: usize, otherwise: usize, reads: Vec<usize> },
    /// Goes on at another instruction.
    Jump(usize),
    /// An operator runs; one that drains a worklist, until it is empty.
    Run(usize),
}

/// Which engines can run a program, beside operator by operator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ProgramShape {
    /// No other.
    #[default]
    Steps,
    /// One label per vertex that only improves: every engine, every pace.
    Relaxation {
        /// The column of the label.
        column: usize,
    },
    /// Every vertex collects from all its neighbours in every round: engines for vertex programs, in rounds.
    Gather {
        /// The operator that visits edges.
        operator: usize,
    },
    /// A vertex acts when something has arrived, and wakes its neighbours: engines for vertex programs.
    Rotated {
        /// The operator that visits edges.
        operator: usize,
        /// Whether messages of several rounds may become one: then hosts need not wait for each other.
        is_any_order: bool,
    },
}
