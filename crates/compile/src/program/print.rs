//! The intermediate form as text.

use super::ir::{
    Act, ActKind, Dir, Expr, ExprKind, ListMembers, Over, ParsedProgram, Step, Unary, VertexPlace,
};

/// A program as text, one statement per line.
pub fn program(program: &ParsedProgram) -> String {
    let mut text = String::new();
    let parameters: Vec<_> = program.scalars[..program.num_parameters]
        .iter()
        .map(|scalar| format!("{}: {}", scalar.name, scalar.ty.name()))
        .collect();
    text += &format!("program {}({})\n", program.name, parameters.join(", "));
    let mut printer = Printer { program, text, depth: 1 };
    printer.steps(&program.body);
    let results: Vec<_> = program.results.iter().map(|id| field(*id, Some(program))).collect();
    printer.line(&format!("return {}", results.join(", ")));
    printer.text
}

/// Statements of an operator as text.
pub fn acts(program: &ParsedProgram, acts: &[Act], depth: usize) -> String {
    let mut printer = Printer { program, text: String::new(), depth };
    printer.acts(acts);
    printer.text
}

/// An expression as text; with the user's names if the program is known.
pub fn expression(expr: &Expr, program: Option<&ParsedProgram>) -> String {
    let of = |part: &Expr| expression(part, program);
    match &expr.kind {
        ExprKind::Integer(value) => value.to_string(),
        ExprKind::Float(value) => format!("{value:?}"),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Constant(name) => format!("{}::{name}", expr.ty.name()),
        ExprKind::Local(id) => match program {
            Some(program) => program.locals[id.0].name.clone(),
            None => format!("x{}", id.0),
        },
        ExprKind::Scalar(id) => match program {
            Some(program) => program.scalars[id.0].name.clone(),
            None => format!("s{}", id.0),
        },
        ExprKind::Read(id, at) => format!("{}[{}]", field(*id, program), place(*at)),
        ExprKind::Weight => "weight".into(),
        ExprKind::Degree(dir, at) => format!("{}_degree({})", direction(*dir), place(*at)),
        ExprKind::Vertex(at) => place(*at).into(),
        ExprKind::Id(vertex) => format!("{}.id()", of(vertex)),
        ExprKind::Element(list, at) => match program {
            Some(program) => format!("{}[{}]", program.scalars[list.0].name, of(at)),
            None => format!("s{}[{}]", list.0, of(at)),
        },
        ExprKind::NumVertices => "num_vertices".into(),
        ExprKind::NumEdges => "num_edges".into(),
        ExprKind::Unary(Unary::Negate, a) => format!("-{}", of(a)),
        ExprKind::Unary(Unary::Not, a) => format!("!{}", of(a)),
        ExprKind::Binary(operator, a, b) => {
            format!("({} {} {})", of(a), operator.symbol(), of(b))
        }
        ExprKind::Method(name, parts) => {
            let arguments: Vec<_> = parts[1..].iter().map(of).collect();
            format!("{}.{name}({})", of(&parts[0]), arguments.join(", "))
        }
        ExprKind::Cast(a) => format!("({} as {})", of(a), expr.ty.name()),
        ExprKind::If(a, b, c) => format!("if {} {{ {} }} else {{ {} }}", of(a), of(b), of(c)),
    }
}

/// A vertex as text.
pub fn place(place: VertexPlace) -> &'static str {
    match place {
        VertexPlace::Active => "v",
        VertexPlace::Far => "far",
    }
}

fn direction(dir: Dir) -> &'static str {
    match dir {
        Dir::Out => "out",
        Dir::In => "in",
        Dir::Both => "any",
    }
}

fn field(id: super::ir::FieldId, program: Option<&ParsedProgram>) -> String {
    match program.and_then(|program| program.fields.get(id.0)) {
        Some(field) => field.name.clone(),
        None => format!("f{}", id.0),
    }
}

struct Printer<'p> {
    program: &'p ParsedProgram,
    text: String,
    depth: usize,
}

impl Printer<'_> {
    fn line(&mut self, line: &str) {
        self.text += &"    ".repeat(self.depth);
        self.text += line;
        self.text.push('\n');
    }

    fn block(&mut self, head: &str, inside: impl FnOnce(&mut Self)) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
        inside(self);
        self.depth -= 1;
        self.line("}");
    }

    fn expr(&self, expr: &Expr) -> String {
        expression(expr, Some(self.program))
    }

    fn steps(&mut self, steps: &[Step]) {
        steps.iter().for_each(|step| self.step(step));
    }

    fn step(&mut self, step: &Step) {
        let program = self.program;
        let list = |id: &super::ir::ListId| program.lists[id.0].clone();
        match step {
            Step::Start(id, value) => {
                let value = self.expr(value);
                self.line(&format!("field {} = {value}", field(*id, Some(program))));
            }
            Step::List(id, members) => {
                let members = match members {
                    ListMembers::None => "nothing".into(),
                    ListMembers::All => "all vertices".into(),
                    ListMembers::These(these) => {
                        these.iter().map(|one| self.expr(one)).collect::<Vec<_>>().join(", ")
                    }
                };
                self.line(&format!("worklist {} = {members}", list(id)));
            }
            Step::Point(id, at, value) => {
                let (at, value) = (self.expr(at), self.expr(value));
                self.line(&format!("{}[{at}] = {value}", field(*id, Some(program))));
            }
            Step::Join(id, vertex) => {
                self.line(&format!("{}.push({})", list(id), self.expr(vertex)))
            }
            Step::Assign(id, value) => {
                let value = self.expr(value);
                self.line(&format!("{} = {value}", program.scalars[id.0].name));
            }
            Step::Swap(a, b) => {
                let (a, b) = (field(*a, Some(program)), field(*b, Some(program)));
                self.line(&format!("swap {a}, {b}"));
            }
            Step::Loop(body) => self.block("loop", |printer| printer.steps(body)),
            Step::Break => self.line("break"),
            Step::If(condition, then, otherwise) => {
                let head = format!("if {}", self.expr(condition));
                self.block(&head, |printer| printer.steps(then));
                if !otherwise.is_empty() {
                    self.block("else", |printer| printer.steps(otherwise));
                }
            }
            Step::Operator(operator) => {
                let over = match operator.over {
                    Over::All => "each v".to_string(),
                    Over::List(id) => format!("drain v of {}", list(&id)),
                };
                self.block(&over, |printer| printer.acts(&operator.body));
            }
        }
    }

    fn acts(&mut self, acts: &[Act]) {
        acts.iter().for_each(|act| self.act(act));
    }

    fn act(&mut self, act: &Act) {
        let program = self.program;
        let local = |id: &super::ir::VariableId| program.locals[id.0].name.clone();
        match &act.kind {
            ActKind::Let(id, value) => {
                let line = format!("let {}: {} = {}", local(id), value.ty.name(), self.expr(value));
                self.line(&line);
            }
            ActKind::Set(id, value) => self.line(&format!("{} = {}", local(id), self.expr(value))),
            ActKind::Gather(id, fold, value) => {
                self.line(&format!("{} {}= {}", local(id), fold.name(), self.expr(value)));
            }
            ActKind::Write(id, at, value) => {
                let value = self.expr(value);
                self.line(&format!("{}[{}] = {value}", field(*id, Some(program)), place(*at)));
            }
            ActKind::Fold(id, at, fold, value, then) => {
                let (name, value) = (field(*id, Some(program)), self.expr(value));
                let head = format!("{name}[{}] {}= {value}", place(*at), fold.name());
                match then.is_empty() {
                    true => self.line(&head),
                    false => self.block(&format!("if changed {head}"), |p| p.acts(then)),
                }
            }
            ActKind::Tally(id, fold, value) => {
                let value = self.expr(value);
                self.line(&format!("{} {}= {value}", program.scalars[id.0].name, fold.name()));
            }
            ActKind::Push(id, at) => {
                self.line(&format!("{}.push({})", program.lists[id.0], place(*at)));
            }
            ActKind::If(condition, then, otherwise) => {
                let head = format!("if {}", self.expr(condition));
                self.block(&head, |printer| printer.acts(then));
                if !otherwise.is_empty() {
                    self.block("else", |printer| printer.acts(otherwise));
                }
            }
            ActKind::Activate => self.line("visit edges"),
            ActKind::Absorb(into, from, fold, then) => {
                let (into, from) = (field(*into, Some(program)), field(*from, Some(program)));
                self.block(&format!("if changed {into}[v] {}= {from}[v]", fold.name()), |p| {
                    p.acts(then)
                });
            }
            ActKind::Edges(dir, body) => {
                let head = format!("each {} edge", direction(*dir));
                self.block(&head, |printer| printer.acts(body));
            }
        }
    }
}
