//! The intermediate form run as it is, statement by statement, on one thread: what a program means.
//!
//! Values are 64 bits, to be read as their type says. Whole numbers wrap.

mod values;

use std::cell::Cell;

use super::ir::{
    Act, ActKind, Dir, Expr, ExprKind, FieldId, Fold, ListId, ListMembers, Over, ParsedProgram,
    ScalarId, Step, VariableId, VertexPlace,
};
pub use values::folded;
use values::{binary, method, to_type};

/// What an expression can ask for.
pub trait View {
    /// The bits of a local.
    fn local(&self, id: VariableId) -> u64;
    /// The bits of a scalar.
    fn scalar(&self, id: ScalarId) -> u64;
    /// The bits of a field at a vertex.
    fn read(&self, id: FieldId, place: VertexPlace) -> u64;
    /// The bits of the weight of the edge.
    fn weight(&self) -> u64;
    /// Number of edges of a vertex.
    fn degree(&self, dir: Dir, place: VertexPlace) -> u64;
    /// The number of a vertex.
    fn id(&self, place: VertexPlace) -> u64;
    /// The number of a vertex of a list that is a parameter.
    fn element(&self, _list: ScalarId, _at: u64) -> u64 {
        unreachable!("who interprets a program gives it no lists of vertices")
    }
    /// Numbers of vertices and of edges.
    fn size(&self) -> (u64, u64);
    /// A whole number has wrapped around, where Rust would panic if it were asked to check.
    fn wrapped(&self) {}
}

/// The bits of an expression.
pub fn evaluate(expr: &Expr, view: &dyn View) -> u64 {
    let of = |part: &Expr| evaluate(part, view);
    match &expr.kind {
        ExprKind::Integer(value) => *value,
        ExprKind::Float(value) => values::float(*value, expr.ty),
        ExprKind::Bool(value) => u64::from(*value),
        ExprKind::Constant(name) => values::constant(name, expr.ty),
        ExprKind::Local(id) => view.local(*id),
        ExprKind::Scalar(id) => view.scalar(*id),
        ExprKind::Read(id, place) => view.read(*id, *place),
        ExprKind::Weight => view.weight(),
        ExprKind::Degree(dir, place) => view.degree(*dir, *place),
        ExprKind::Vertex(place) => view.id(*place),
        ExprKind::Id(of_vertex) => of(of_vertex),
        ExprKind::Element(list, at) => view.element(*list, of(at)),
        ExprKind::NumVertices => view.size().0,
        ExprKind::NumEdges => view.size().1,
        ExprKind::Unary(operator, a) => values::unary(*operator, expr.ty, of(a)),
        ExprKind::Binary(super::ir::Binary::And, a, b) => {
            if of(a) != 0 {
                of(b)
            } else {
                0
            }
        }
        ExprKind::Binary(super::ir::Binary::Or, a, b) => {
            if of(a) != 0 {
                1
            } else {
                of(b)
            }
        }
        ExprKind::Binary(operator, a, b) => {
            let (x, y) = (of(a), of(b));
            if values::wraps(*operator, a.ty, x, y) {
                view.wrapped();
            }
            binary(*operator, a.ty, x, y)
        }
        ExprKind::Method(name, parts) => {
            let bits: Vec<_> = parts.iter().map(of).collect();
            method(name, parts[0].ty, &bits)
        }
        ExprKind::Cast(a) => to_type(of(a), a.ty, expr.ty),
        ExprKind::If(a, b, c) => {
            if of(a) != 0 {
                of(b)
            } else {
                of(c)
            }
        }
    }
}

/// A graph as edges: source, destination, bits of the weight.
pub struct PlainGraph {
    /// Number of vertices.
    pub vertices: usize,
    /// Edges.
    pub edges: Vec<(u32, u32, u64)>,
}

/// The program has run for too long.
#[derive(Debug)]
pub struct Endless;

/// What a program returns.
pub struct Meaning {
    /// The bits of its fields.
    pub fields: Vec<Vec<u64>>,
    /// Whether a whole number has wrapped around on the way.
    pub has_wrapped: bool,
}

/// Runs a program. `budget` limits the visits to vertices and edges.
pub fn sequential(
    program: &ParsedProgram,
    graph: &PlainGraph,
    arguments: &[u64],
    budget: u64,
) -> Result<Meaning, Endless> {
    let mut scalars = vec![0; program.scalars.len()];
    scalars[..arguments.len()].copy_from_slice(arguments);
    let mut memory = Memory {
        program,
        graph,
        scalars,
        fields: vec![vec![0; graph.vertices]; program.fields.len()],
        lists: vec![Vec::new(); program.lists.len()],
        locals: vec![0; program.locals.len()],
        at: (0, 0, 0),
        budget,
        has_wrapped: Cell::new(false),
    };
    memory.steps(&program.body)?;
    let fields = program.results.iter().map(|field| memory.fields[field.0].clone()).collect();
    Ok(Meaning { fields, has_wrapped: memory.has_wrapped.get() })
}

struct Memory<'p> {
    program: &'p ParsedProgram,
    graph: &'p PlainGraph,
    scalars: Vec<u64>,
    fields: Vec<Vec<u64>>,
    lists: Vec<Vec<u32>>,
    locals: Vec<u64>,
    /// The active vertex, the other end of the edge, the weight.
    at: (u32, u32, u64),
    budget: u64,
    has_wrapped: Cell<bool>,
}

impl View for Memory<'_> {
    fn local(&self, id: VariableId) -> u64 {
        self.locals[id.0]
    }

    fn scalar(&self, id: ScalarId) -> u64 {
        self.scalars[id.0]
    }

    fn read(&self, id: FieldId, place: VertexPlace) -> u64 {
        self.fields[id.0][self.vertex(place) as usize]
    }

    fn weight(&self) -> u64 {
        self.at.2
    }

    fn degree(&self, dir: Dir, place: VertexPlace) -> u64 {
        let vertex = self.vertex(place);
        let ends = self.graph.edges.iter().map(|edge| if dir == Dir::In { edge.1 } else { edge.0 });
        ends.filter(|end| *end == vertex).count() as u64
    }

    fn id(&self, place: VertexPlace) -> u64 {
        u64::from(self.vertex(place))
    }

    fn size(&self) -> (u64, u64) {
        (self.graph.vertices as u64, self.graph.edges.len() as u64)
    }

    fn wrapped(&self) {
        self.has_wrapped.set(true);
    }
}

/// Whether a loop goes on.
#[derive(PartialEq)]
enum Flow {
    On,
    Break,
}

impl Memory<'_> {
    fn vertex(&self, place: VertexPlace) -> u32 {
        match place {
            VertexPlace::Active => self.at.0,
            VertexPlace::Far => self.at.1,
        }
    }

    fn spend(&mut self) -> Result<(), Endless> {
        self.budget = self.budget.checked_sub(1).ok_or(Endless)?;
        Ok(())
    }

    fn steps(&mut self, steps: &[Step]) -> Result<Flow, Endless> {
        for step in steps {
            if self.step(step)? == Flow::Break {
                return Ok(Flow::Break);
            }
        }
        Ok(Flow::On)
    }

    fn step(&mut self, step: &Step) -> Result<Flow, Endless> {
        self.spend()?;
        match step {
            Step::Start(field, value) => {
                for vertex in 0..self.graph.vertices as u32 {
                    self.at.0 = vertex;
                    self.fields[field.0][vertex as usize] = evaluate(value, self);
                }
            }
            Step::List(list, members) => {
                self.lists[list.0] = match members {
                    ListMembers::None => Vec::new(),
                    ListMembers::All => (0..self.graph.vertices as u32).collect(),
                    ListMembers::These(these) => {
                        these.iter().map(|one| evaluate(one, self) as u32).collect()
                    }
                };
                self.lists[list.0].dedup();
            }
            Step::Join(list, vertex) => {
                let vertex = evaluate(vertex, self) as u32;
                self.push(*list, vertex);
            }
            Step::Point(field, vertex, value) => {
                let (vertex, value) = (evaluate(vertex, self), evaluate(value, self));
                self.fields[field.0][vertex as usize] = value;
            }
            Step::Assign(scalar, value) => self.scalars[scalar.0] = evaluate(value, self),
            Step::Swap(a, b) => self.fields.swap(a.0, b.0),
            Step::Loop(body) => while self.steps(body)? == Flow::On {},
            Step::Break => return Ok(Flow::Break),
            Step::If(condition, then, otherwise) => {
                let branch = if evaluate(condition, self) != 0 { then } else { otherwise };
                return self.steps(branch);
            }
            Step::Operator(operator) => match operator.over {
                Over::All => {
                    for vertex in 0..self.graph.vertices as u32 {
                        self.at.0 = vertex;
                        self.acts(&operator.body)?;
                    }
                }
                Over::List(list) => {
                    while !self.lists[list.0].is_empty() {
                        self.at.0 = self.lists[list.0].remove(0);
                        self.acts(&operator.body)?;
                    }
                }
            },
        }
        Ok(Flow::On)
    }

    fn push(&mut self, list: ListId, vertex: u32) {
        if !self.lists[list.0].contains(&vertex) {
            self.lists[list.0].push(vertex);
        }
    }

    fn acts(&mut self, acts: &[Act]) -> Result<(), Endless> {
        acts.iter().try_for_each(|act| self.act(act))
    }

    fn act(&mut self, act: &Act) -> Result<(), Endless> {
        self.spend()?;
        match &act.kind {
            ActKind::Let(id, value) | ActKind::Set(id, value) => {
                self.locals[id.0] = evaluate(value, self);
            }
            ActKind::Gather(id, fold, value) => {
                let ty = self.program.locals[id.0].ty;
                self.locals[id.0] = folded(*fold, ty, self.locals[id.0], evaluate(value, self));
            }
            ActKind::Write(id, place, value) => {
                let (vertex, value) = (self.vertex(*place) as usize, evaluate(value, self));
                self.fields[id.0][vertex] = value;
            }
            ActKind::Fold(id, place, fold, value, then) => {
                let (vertex, ty) = (self.vertex(*place) as usize, self.program.fields[id.0].ty);
                let old = self.fields[id.0][vertex];
                let new = folded(*fold, ty, old, evaluate(value, self));
                self.fields[id.0][vertex] = new;
                if new != old {
                    self.acts(then)?;
                }
            }
            ActKind::Tally(id, fold, value) => {
                let ty = self.program.scalars[id.0].ty;
                self.scalars[id.0] = folded(*fold, ty, self.scalars[id.0], evaluate(value, self));
            }
            ActKind::Push(list, place) => self.push(*list, self.vertex(*place)),
            ActKind::If(condition, then, otherwise) => {
                let branch = if evaluate(condition, self) != 0 { then } else { otherwise };
                self.acts(branch)?;
            }
            ActKind::Edges(dir, body) => self.edges(*dir, body)?,
            ActKind::Activate | ActKind::Absorb(..) => unreachable!("only lowering makes these"),
        }
        Ok(())
    }

    fn edges(&mut self, dir: Dir, body: &[Act]) -> Result<(), Endless> {
        let (vertex, graph) = (self.at.0, self.graph);
        if dir != Dir::In {
            for (_, target, weight) in graph.edges.iter().filter(|edge| edge.0 == vertex) {
                self.at = (vertex, *target, *weight);
                self.acts(body)?;
            }
        }
        if dir != Dir::Out {
            for (source, _, weight) in graph.edges.iter().filter(|edge| edge.1 == vertex) {
                self.at = (vertex, *source, *weight);
                self.acts(body)?;
            }
        }
        Ok(())
    }
}

/// What changes nothing when it is folded in.
pub fn identity(fold: Fold, ty: super::ir::Ty) -> u64 {
    match fold {
        Fold::Sum | Fold::Less => values::float(0.0, ty),
        Fold::Or => 0,
        Fold::Min => values::constant(if ty.is_float() { "INFINITY" } else { "MAX" }, ty),
        Fold::Max => values::constant(if ty.is_float() { "NEG_INFINITY" } else { "MIN" }, ty),
    }
}
