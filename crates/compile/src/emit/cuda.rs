//! CUDA C++ over the names of `kernels/prelude.cu` of the crate `parton-gpu`.
//!
//! Operators and methods are calls of function templates, which find the types of their operands.
//! `if` and `match` are statements where C++ allows it: in a statement, at the end of a function, and
//! in a `let` of a declared type. Inside other expressions each branch is a lambda.

mod expressions;
mod patterns;
mod statements;

use std::collections::HashMap;

pub(crate) use expressions::{float, operator_name};

use crate::ir::{Block, Expression, Function, Kind, LocalIndex, Passing, Type};

/// The text of a function. `takes_program` adds the program as the first parameter.
pub fn function(function: &Function, takes_program: bool) -> String {
    let mut emitter = Emitter { function, temporaries: 0, replaced: HashMap::new() };
    let program = takes_program.then(|| "const Program& self".to_string());
    let own = function.parameters.iter().map(|parameter| {
        let ty = type_name(&parameter.ty);
        let ty = match parameter.passing {
            Passing::Value => ty,
            Passing::Shared => format!("const {ty}&"),
            Passing::Mutable => format!("{ty}&"),
        };
        match parameter.local {
            Some(local) => format!("{ty} {}", function.locals[local.0].name),
            None => ty,
        }
    });
    let parameters: Vec<_> = program.into_iter().chain(own).collect();
    let result = type_name(&function.result);
    let mut text = format!("DEVICE {result} {}({}) {{\n", function.name, parameters.join(", "));
    emitter.block(&function.body, Sink::Return, &mut text);
    if function.result == Type::Known("Unit") {
        text.push_str("return Unit{};\n");
    }
    text.push_str("}\n");
    text
}

/// The name of a type.
pub fn type_name(ty: &Type) -> String {
    match ty {
        Type::Known(name) => (*name).into(),
        Type::User(name) => name.clone(),
        Type::Option(of) => format!("Option<{}>", type_name(of)),
        Type::Slice(of) => format!("Slice<{}>", type_name(of)),
    }
}

/// Where the value of an expression goes that is written as statements.
#[derive(Clone, Copy)]
enum Sink<'s> {
    /// It is what the function returns.
    Return,
    /// It is what the lambda around it returns, whose type C++ finds: one `return` alone.
    Lambda,
    /// To a place.
    Assign(&'s str),
    /// It is dropped.
    Discard,
}

struct Emitter<'f> {
    function: &'f Function,
    /// Number of variables that the source does not name.
    temporaries: usize,
    /// Text for locals that C++ has not declared yet: names of a pattern in its guard.
    replaced: HashMap<LocalIndex, String>,
}

impl Emitter<'_> {
    fn temporary(&mut self) -> String {
        self.temporaries += 1;
        format!("t{}", self.temporaries)
    }

    fn local(&self, local: LocalIndex) -> String {
        let name = || self.function.locals[local.0].name.clone();
        self.replaced.get(&local).cloned().unwrap_or_else(name)
    }

    fn block(&mut self, block: &Block, sink: Sink<'_>, out: &mut String) {
        for statement in &block.statements {
            self.statement(statement, out);
        }
        match (&block.tail, sink) {
            (Some(tail), _) => self.sink(tail, sink, out),
            (None, Sink::Lambda) => out.push_str("return Unit{};\n"),
            (None, _) => {}
        }
    }

    /// Writes an expression whose value goes to `sink`.
    fn sink(&mut self, value: &Expression, sink: Sink<'_>, out: &mut String) {
        let is_lambda = matches!(sink, Sink::Lambda);
        match &value.kind {
            Kind::Block(block) => {
                out.push_str("{\n");
                self.block(block, sink, out);
                out.push_str("}\n");
            }
            Kind::Statement(statement) => {
                self.statement(statement, out);
                if is_lambda {
                    out.push_str("return Unit{};\n");
                }
            }
            Kind::If(condition, then, otherwise) if !is_lambda => {
                let condition = self.text(condition);
                out.push_str(&format!("if ({condition}) {{\n"));
                self.block(then, sink, out);
                out.push_str("}\n");
                if let Some(otherwise) = otherwise {
                    out.push_str("else {\n");
                    self.sink(otherwise, sink, out);
                    out.push_str("}\n");
                }
            }
            Kind::Match(matched, arms) if !is_lambda => {
                let name = self.temporary();
                let matched = self.text(matched);
                out.push_str(&format!("{{\nconst auto {name} = {matched};\n"));
                self.arms(&name, arms, sink, out);
                out.push_str("}\n");
            }
            _ => {
                let text = self.text(value);
                out.push_str(&match sink {
                    Sink::Return | Sink::Lambda => format!("return {text};\n"),
                    Sink::Assign(place) => format!("p_set({place}, {text});\n"),
                    Sink::Discard => format!("(void){text};\n"),
                });
            }
        }
    }

    fn qualifier(&self, local: LocalIndex) -> &'static str {
        if self.function.locals[local.0].is_mutable { "" } else { "const " }
    }
}

/// Indents lines by the braces that are open.
pub(crate) fn indent(text: &str) -> String {
    let mut depth = 0_usize;
    let mut indented = String::new();
    for line in text.lines() {
        let closing = line.chars().take_while(|c| *c == '}').count();
        let width = 4 * depth.saturating_sub(closing);
        indented.push_str(&" ".repeat(width));
        indented.push_str(line);
        indented.push('\n');
        depth = (depth + line.matches('{').count()).saturating_sub(line.matches('}').count());
    }
    indented
}
