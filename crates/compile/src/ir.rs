//! The intermediate form: functions of a program as small trees, every name resolved.
//!
//! Types of expressions are unknown here; the C++ compiler finds them. References have vanished, and
//! every construct that a device does not know was refused by the parser.

use std::collections::BTreeMap;

use proc_macro2::Span;

/// One function.
#[derive(Debug)]
pub struct Function {
    /// What it is called in device code.
    pub name: String,
    /// Parameters after the program itself.
    pub parameters: Vec<FunctionParameter>,
    /// What it returns.
    pub result: Type,
    /// What it does.
    pub body: Block,
    /// Everything that is bound inside, by id.
    pub locals: Vec<Local>,
}

/// A parameter of a function.
#[derive(Debug)]
pub struct FunctionParameter {
    /// The name that it binds, if any.
    pub local: Option<LocalIndex>,
    /// Its type.
    pub ty: Type,
    /// How it is passed.
    pub passing: Passing,
}

/// How an argument reaches a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// As a value.
    Value,
    /// As a reference that is only read.
    Shared,
    /// As a reference through which the function writes.
    Mutable,
}

/// A type that the source names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// One that device code knows under this name.
    Known(&'static str),
    /// A type of the user: the name that device code gives it.
    User(String),
    /// An option of it.
    Option(Box<Type>),
    /// An array in memory of it.
    Slice(Box<Type>),
}

/// The place of a local in [`Function::locals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LocalIndex(pub usize);

/// Something that a function binds.
#[derive(Debug)]
pub struct Local {
    /// Its name in device code, unique in the function.
    pub name: String,
    /// Whether it can be assigned to.
    pub is_mutable: bool,
    /// What is known of it.
    pub role: LocalRole,
}

/// What is known of a local.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalRole {
    /// Nothing.
    Plain,
    /// It is a `Vertex`.
    Vertex,
    /// It is the `Tally`.
    Tally,
    /// It is behind a mutable reference.
    Reference,
    /// It is a literal of no type yet: the variable of a loop from literal to literal.
    Bare,
}

/// Statements, and perhaps a value.
#[derive(Debug)]
pub struct Block {
    /// In order.
    pub statements: Vec<Statement>,
    /// The value of the block.
    pub tail: Option<Box<Expression>>,
}

/// A statement.
#[derive(Debug)]
pub enum Statement {
    /// `let local: ty = value;`
    Let {
        /// What is bound; nothing for `_`.
        local: Option<LocalIndex>,
        /// The type that was written.
        ty: Option<Type>,
        /// The value; without one, the local is assigned later.
        value: Option<Expression>,
    },
    /// `let pattern = value else { otherwise };`
    LetElse {
        /// What must match.
        pattern: Pattern,
        /// What is matched.
        value: Expression,
        /// What runs otherwise. Does not end.
        otherwise: Block,
    },
    /// `place = value;` or, with an operator, `place += value;`
    Assign {
        /// Where the value goes.
        place: Expression,
        /// The operator of a compound assignment.
        operator: Option<Binary>,
        /// The value, or the second operand.
        value: Expression,
    },
    /// An expression whose value is dropped.
    Evaluate(Expression),
    /// `return value;`
    Return(Option<Expression>),
    /// `for local in from..to { body }`
    For {
        /// The variable of the loop; nothing for `_`.
        local: Option<LocalIndex>,
        /// The first value.
        from: Expression,
        /// Where the loop ends.
        to: Expression,
        /// Whether `to` belongs to the loop.
        is_inclusive: bool,
        /// What runs for each.
        body: Block,
    },
    /// `break;`
    Break,
    /// `continue;`
    Continue,
}

/// An expression.
#[derive(Debug)]
pub struct Expression {
    /// What it is.
    pub kind: Kind,
    /// Where it stands in the source.
    pub span: Span,
}

/// What an expression is.
#[derive(Debug)]
pub enum Kind {
    /// `()`.
    Unit,
    /// `true` or `false`.
    Bool(bool),
    /// An integer, with its type if it has a suffix.
    Integer(u64, Option<Type>),
    /// A float as digits, with its type if it has a suffix.
    Float(String, Option<Type>),
    /// Something bound.
    Local(LocalIndex),
    /// A field of the program: the name of the parameter in device code.
    Parameter(String),
    /// A constant of the user: the name of the function that yields it.
    Constant(String),
    /// A constant of a type of numbers: `u32::MAX`, `D::ZERO`.
    TypeConstant(Type, String),
    /// A field of a value.
    Field(Box<Expression>, String),
    /// An element.
    Index(Box<Expression>, Box<Expression>),
    /// An operator on one operand.
    Unary(Unary, Box<Expression>),
    /// An operator on two operands.
    Binary(Binary, Box<Expression>, Box<Expression>),
    /// `value as ty`, and `ty::from(value)`.
    Cast(Box<Expression>, Type),
    /// A function of the prelude: methods, with the receiver first. Types are template arguments.
    Call(&'static str, Vec<Type>, Vec<Expression>),
    /// A function of the user.
    CallUser(String, Vec<Expression>),
    /// A place that a function writes to: an argument behind a mutable reference.
    Mutable(Box<Expression>),
    /// A closure. It is an argument of a method.
    Closure(Vec<LocalIndex>, Box<Expression>),
    /// `Type { field: value, ..base }`.
    Struct {
        /// The type.
        ty: Type,
        /// Names of fields in device code, and their values.
        fields: Vec<(String, Expression)>,
        /// Where other fields come from.
        base: Option<Box<Expression>>,
    },
    /// `[a, b, c]`.
    Array(Vec<Expression>),
    /// `[value; count]`.
    Repeat(Box<Expression>, u64),
    /// `if`; without an `else` its value is nothing.
    If(Box<Expression>, Block, Option<Box<Expression>>),
    /// `match`.
    Match(Box<Expression>, Vec<Arm>),
    /// A block.
    Block(Block),
    /// A statement in the place of an expression: `match x { None => return 0, … }`.
    Statement(Box<Statement>),
}

/// An arm of a `match`.
#[derive(Debug)]
pub struct Arm {
    /// What must match.
    pub pattern: Pattern,
    /// What must hold beside.
    pub guard: Option<Expression>,
    /// The value.
    pub body: Expression,
}

/// A pattern.
#[derive(Debug)]
pub enum Pattern {
    /// `_` and `()`.
    Any,
    /// A name.
    Bind(LocalIndex),
    /// A literal or a constant.
    Value(Expression),
    /// From a value, up to a value, and whether that belongs to the range.
    Range(Option<Expression>, Option<(Expression, bool)>),
    /// `Some(pattern)`.
    Some(Box<Pattern>),
    /// `None`.
    None,
    /// One of several, which bind nothing.
    Either(Vec<Pattern>),
}

/// An operator on one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `-`
    Negate,
    /// `!`
    Not,
}

/// An operator on two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the operators'")]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
}

/// What functions mention that is defined elsewhere in the user's crate.
#[derive(Default)]
pub struct Mentions {
    /// Fields of the program: their names in device code, and the fields.
    pub fields: BTreeMap<String, syn::Member>,
    /// Types: their names in device code, and the types.
    pub types: BTreeMap<String, syn::Type>,
    /// Constants: their names in device code, and where they are.
    pub constants: BTreeMap<String, syn::Expr>,
    /// Functions: their names in device code, and where they are.
    pub functions: BTreeMap<String, syn::Path>,
}

impl Expression {
    /// Whether this is a literal without a type, or made of nothing else.
    pub(crate) fn is_bare(&self, locals: &[Local]) -> bool {
        let all = |parts: &[&Expression]| parts.iter().all(|part| part.is_bare(locals));
        match &self.kind {
            Kind::Integer(_, ty) => ty.is_none(),
            Kind::Float(_, ty) => ty.is_none(),
            Kind::Local(local) => locals[local.0].role == LocalRole::Bare,
            Kind::Unary(_, operand) => operand.is_bare(locals),
            Kind::Binary(operator, a, b) => match operator {
                Binary::Shl | Binary::Shr => a.is_bare(locals),
                operator => !operator.is_truth() && all(&[a, b]),
            },
            Kind::Call("p_some" | "p_then_some" | "p_then", _, arguments) => {
                arguments.last().is_some_and(|value| value.is_bare(locals))
            }
            Kind::Call("p_none", ..) => true,
            Kind::Closure(_, of) | Kind::Repeat(of, _) => of.is_bare(locals),
            Kind::Array(values) => values.iter().all(|value| value.is_bare(locals)),
            Kind::Block(block) => block.is_bare(locals),
            Kind::If(_, then, Some(otherwise)) => then.is_bare(locals) && otherwise.is_bare(locals),
            Kind::Match(_, arms) => arms.iter().all(|arm| arm.body.is_bare(locals)),
            _ => false,
        }
    }

    /// Whether evaluating it changes anything.
    pub(crate) fn has_effects(&self) -> bool {
        match &self.kind {
            Kind::Unit
            | Kind::Bool(_)
            | Kind::Integer(..)
            | Kind::Float(..)
            | Kind::Local(_)
            | Kind::Parameter(_)
            | Kind::Constant(_)
            | Kind::TypeConstant(..) => false,
            Kind::Field(of, _)
            | Kind::Unary(_, of)
            | Kind::Cast(of, _)
            | Kind::Closure(_, of)
            | Kind::Repeat(of, _) => of.has_effects(),
            Kind::Index(a, b) | Kind::Binary(_, a, b) => a.has_effects() || b.has_effects(),
            Kind::Mutable(_) | Kind::Statement(_) => true,
            Kind::Call(_, _, parts) | Kind::CallUser(_, parts) | Kind::Array(parts) => {
                parts.iter().any(Expression::has_effects)
            }
            Kind::Struct { fields, base, .. } => {
                fields.iter().any(|(_, value)| value.has_effects())
                    || base.as_ref().is_some_and(|base| base.has_effects())
            }
            Kind::If(condition, then, otherwise) => {
                condition.has_effects()
                    || then.has_effects()
                    || otherwise.as_ref().is_some_and(|otherwise| otherwise.has_effects())
            }
            Kind::Match(value, arms) => {
                value.has_effects() || arms.iter().any(|arm| arm.body.has_effects())
            }
            Kind::Block(block) => block.has_effects(),
        }
    }
}

impl Block {
    fn is_bare(&self, locals: &[Local]) -> bool {
        self.tail.as_ref().is_some_and(|tail| tail.is_bare(locals))
    }

    fn has_effects(&self) -> bool {
        let is_effect = |statement: &Statement| match statement {
            Statement::Let { value, .. } => value.as_ref().is_some_and(Expression::has_effects),
            Statement::Evaluate(value) => value.has_effects(),
            _ => true,
        };
        self.statements.iter().any(is_effect)
            || self.tail.as_ref().is_some_and(|tail| tail.has_effects())
    }
}

impl Binary {
    /// Whether it yields a truth value, whatever its operands are.
    pub(crate) fn is_truth(self) -> bool {
        use Binary::*;
        matches!(self, Eq | Ne | Lt | Le | Gt | Ge | And | Or)
    }
}
