//! The intermediate form of a whole program: every name resolved, every expression typed, every update that
//! is a reduction written as one.
//!
//! Two levels of code: [`Step`]s run alike on all hosts and hold the control flow; [`Act`]s are the body of
//! an operator and run at one vertex, or at one edge of it.

mod walk;

use proc_macro2::Span;

pub use crate::ir::{Binary, Unary};
pub(crate) use walk::{each_expression, each_operator};

/// A type of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the types'")]
pub enum Ty {
    U32,
    U64,
    I32,
    I64,
    F32,
    F64,
    Bool,
    /// A vertex: a parameter, the active vertex, an end of an edge.
    Vertex,
    /// Not known yet: a variable of the inference.
    Variable(usize),
}

impl Ty {
    /// Every type that a field can have, by its name.
    pub(crate) const NAMED: [(&'static str, Ty); 7] = [
        ("u32", Ty::U32),
        ("u64", Ty::U64),
        ("i32", Ty::I32),
        ("i64", Ty::I64),
        ("f32", Ty::F32),
        ("f64", Ty::F64),
        ("bool", Ty::Bool),
    ];

    /// Its name in Rust.
    pub fn name(self) -> &'static str {
        let named = Ty::NAMED.iter().find(|(_, ty)| *ty == self);
        named.map_or("Vertex", |(name, _)| name)
    }

    /// Whether it is a number with a fraction.
    pub(crate) fn is_float(self) -> bool {
        matches!(self, Ty::F32 | Ty::F64)
    }

    /// Whether it is a whole number without a sign.
    pub fn is_unsigned(self) -> bool {
        matches!(self, Ty::U32 | Ty::U64)
    }
}

/// How several values become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fold {
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// The sum.
    Sum,
    /// A sum that is subtracted: whole numbers without a sign cannot be negated.
    Less,
    /// Whether any holds.
    Or,
}

impl Fold {
    /// Whether folding a value in twice is the same as once.
    pub(crate) fn is_idempotent(self) -> bool {
        matches!(self, Fold::Min | Fold::Max | Fold::Or)
    }

    /// Its name in texts.
    pub fn name(self) -> &'static str {
        match self {
            Fold::Min => "min",
            Fold::Max => "max",
            Fold::Sum => "sum",
            Fold::Less => "subtracted sum",
            Fold::Or => "or",
        }
    }
}

/// Which edges of the active vertex a loop visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dir {
    /// Those that leave it.
    Out,
    /// Those that lead to it.
    In,
    /// All of them.
    Both,
}

/// A vertex that an operator sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VertexPlace {
    /// The active vertex.
    Active,
    /// The other end of the edge being visited.
    Far,
}

/// The place of a field in [`ParsedProgram::fields`]; after lowering, of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldId(pub usize);
/// The place of a scalar in [`ParsedProgram::scalars`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScalarId(pub usize);
/// The place of a worklist in [`ParsedProgram::lists`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ListId(pub usize);
/// The place of a local in [`ParsedProgram::locals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariableId(pub usize);

/// Something with a name and a type.
#[derive(Clone, Debug)]
pub struct Named {
    /// What the user calls it.
    pub name: String,
    /// Its type.
    pub ty: Ty,
    /// Where it is declared.
    pub span: Span,
}

/// A whole program.
#[derive(Clone, Debug)]
pub struct ParsedProgram {
    /// Its name.
    pub name: String,
    /// The type of weights; `None`: edges have none.
    pub weight: Option<Ty>,
    /// The first scalars are its parameters after the graph.
    pub num_parameters: usize,
    /// Values that are the same on all hosts.
    pub scalars: Vec<Named>,
    /// Parameters that are lists of vertices: the scalar of each is its length.
    pub vertex_lists: Vec<ScalarId>,
    /// Values per vertex.
    pub fields: Vec<Named>,
    /// Names of worklists.
    pub lists: Vec<String>,
    /// Values inside operators.
    pub locals: Vec<Named>,
    /// What it does.
    pub body: Vec<Step>,
    /// The fields it returns.
    pub results: Vec<FieldId>,
}

/// Code that all hosts run alike.
#[derive(Clone, Debug)]
pub enum Step {
    /// A field starts with this value, in which the active vertex may occur.
    Start(FieldId, Expr),
    /// A worklist starts with these members.
    List(ListId, ListMembers),
    /// The value of one vertex is set.
    Point(FieldId, Expr, Expr),
    /// A vertex joins a worklist.
    Join(ListId, Expr),
    /// A scalar is set.
    Assign(ScalarId, Expr),
    /// Two fields trade places.
    Swap(FieldId, FieldId),
    /// Runs until a break.
    Loop(Vec<Step>),
    /// Ends the innermost loop.
    Break,
    /// One or the other.
    If(Expr, Vec<Step>, Vec<Step>),
    /// A loop over vertices.
    Operator(Operator),
}

/// What a worklist starts with.
#[derive(Clone, Debug)]
pub enum ListMembers {
    /// Nothing.
    None,
    /// These vertices.
    These(Vec<Expr>),
    /// Every vertex.
    All,
}

/// A loop over vertices: what happens at each of them.
#[derive(Clone, Debug)]
pub struct Operator {
    /// The vertices.
    pub over: Over,
    /// What happens.
    pub body: Vec<Act>,
    /// Where the loop stands.
    pub span: Span,
}

/// The vertices of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// All.
    All,
    /// ListMembers of a worklist, until it is empty.
    List(ListId),
}

/// A statement of an operator.
#[derive(Clone, Debug)]
pub struct Act {
    /// What it does.
    pub kind: ActKind,
    /// Where it stands.
    pub span: Span,
}

/// What a statement of an operator does.
#[derive(Clone, Debug)]
pub enum ActKind {
    /// Binds a local.
    Let(VariableId, Expr),
    /// Sets a local of the same part.
    Set(VariableId, Expr),
    /// Folds a value of an edge into a local of its active vertex.
    Gather(VariableId, Fold, Expr),
    /// Sets the value of a vertex.
    Write(FieldId, VertexPlace, Expr),
    /// Folds a value into that of a vertex, inside a loop over edges. If that changes the value, the
    /// statements run.
    Fold(FieldId, VertexPlace, Fold, Expr, Vec<Act>),
    /// Folds a value into a scalar.
    Tally(ScalarId, Fold, Expr),
    /// A vertex joins a worklist.
    Push(ListId, VertexPlace),
    /// One or the other.
    If(Expr, Vec<Act>, Vec<Act>),
    /// Visits edges of the active vertex.
    Edges(Dir, Vec<Act>),
    /// After lowering: the active vertex will visit its edges.
    Activate,
    /// After lowering: what an accumulator holds is folded into a field. If that changes it, the
    /// statements run.
    Absorb(FieldId, FieldId, Fold, Vec<Act>),
}

/// An expression without effects.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its type.
    pub ty: Ty,
    /// Where it stands.
    pub span: Span,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A whole number.
    Integer(u64),
    /// A number with a fraction.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// A constant of its type, such as `MAX`.
    Constant(&'static str),
    /// A local of the operator.
    Local(VariableId),
    /// A scalar.
    Scalar(ScalarId),
    /// The value of a vertex.
    Read(FieldId, VertexPlace),
    /// The weight of the edge.
    Weight,
    /// Number of edges of a vertex.
    Degree(Dir, VertexPlace),
    /// A vertex.
    Vertex(VertexPlace),
    /// The number of a vertex.
    Id(Box<Expr>),
    /// A vertex of a list that is a parameter, by its place there. The scalar is the list's length.
    Element(ScalarId, Box<Expr>),
    /// Number of vertices.
    NumVertices,
    /// Number of edges.
    NumEdges,
    /// An operator on one operand.
    Unary(Unary, Box<Expr>),
    /// An operator on two operands of one type.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// A method of numbers, the receiver first.
    Method(&'static str, Vec<Expr>),
    /// A number as another type.
    Cast(Box<Expr>),
    /// One or the other.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
}

impl Expr {
    /// An expression.
    pub fn new(kind: ExprKind, ty: Ty, span: Span) -> Self {
        Expr { kind, ty, span }
    }

    /// The operands.
    pub fn parts(&self) -> Vec<&Expr> {
        use ExprKind::*;
        match &self.kind {
            Unary(_, a) | Cast(a) | Id(a) | Element(_, a) => vec![a],
            Binary(_, a, b) => vec![a, b],
            Method(_, parts) => parts.iter().collect(),
            If(a, b, c) => vec![a, b, c],
            _ => Vec::new(),
        }
    }

    /// The operands, to change them.
    pub(crate) fn parts_mut(&mut self) -> Vec<&mut Expr> {
        use ExprKind::*;
        match &mut self.kind {
            Unary(_, a) | Cast(a) | Id(a) | Element(_, a) => vec![a],
            Binary(_, a, b) => vec![a, b],
            Method(_, parts) => parts.iter_mut().collect(),
            If(a, b, c) => vec![a, b, c],
            _ => Vec::new(),
        }
    }

    /// Calls `visit` with this and everything in it.
    pub fn walk<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        visit(self);
        self.parts().into_iter().for_each(|part| part.walk(visit));
    }

    /// Whether this or something in it is so.
    pub fn any(&self, is: &dyn Fn(&Expr) -> bool) -> bool {
        is(self) || self.parts().into_iter().any(|part| part.any(is))
    }

    /// Whether it is the same for all vertices and edges.
    pub(crate) fn is_uniform(&self) -> bool {
        use ExprKind::*;
        !self
            .any(&|part| matches!(part.kind, Local(_) | Read(..) | Weight | Degree(..) | Vertex(_)))
    }

    /// Whether two expressions are written alike, wherever they stand.
    pub fn is_same(&self, other: &Expr) -> bool {
        self.ty == other.ty && self.to_string() == other.to_string()
    }
}
