//! CUDA C++ over the names of `kernels/prelude.cu` of the crate `parton-gpu`.
//!
//! Operators and methods are calls of function templates, which find the types of their operands.
//! `if` and `match` are statements where C++ allows it: in a statement, at the end of a function, and
//! in a `let` of a declared type. Inside other expressions each branch is a lambda.

use std::collections::HashMap;

use crate::ir::{
    Arm, Binary, Block, Expression, Function, Kind, LocalId, Passing, Pattern, Statement, Type,
    Unary,
};

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
    /// Nowhere.
    Discard,
}

struct Emitter<'f> {
    function: &'f Function,
    /// Number of variables that the source does not name.
    temporaries: usize,
    /// Text for locals that C++ has not declared yet: names of a pattern in its guard.
    replaced: HashMap<LocalId, String>,
}

/// What a pattern asks of a value, and what it binds.
#[derive(Default)]
struct Matched {
    conditions: Vec<String>,
    bindings: Vec<(LocalId, String)>,
}

impl Emitter<'_> {
    fn temporary(&mut self) -> String {
        self.temporaries += 1;
        format!("t{}", self.temporaries)
    }

    fn local(&self, local: LocalId) -> String {
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

    /// Arms as a chain of `if` and `else`.
    fn arms(&mut self, name: &str, arms: &[Arm], sink: Sink<'_>, out: &mut String) {
        for (place, arm) in arms.iter().enumerate() {
            let (matched, condition) = self.condition(name, arm, place + 1 == arms.len());
            let is_last = condition.is_none();
            match (place, condition) {
                (0, None) => out.push_str("{\n"),
                (0, Some(condition)) => out.push_str(&format!("if ({condition}) {{\n")),
                (_, None) => out.push_str("else {\n"),
                (_, Some(condition)) => out.push_str(&format!("else if ({condition}) {{\n")),
            }
            self.declare(&matched, out);
            self.sink(&arm.body, sink, out);
            out.push_str("}\n");
            if is_last {
                break;
            }
        }
    }

    /// What an arm binds, and its condition. The last one needs none: Rust checked that some arm fits.
    fn condition(&mut self, name: &str, arm: &Arm, is_last: bool) -> (Matched, Option<String>) {
        let mut matched = Matched::default();
        self.pattern(&arm.pattern, name.into(), &mut matched);
        let mut conditions = matched.conditions.clone();
        if let Some(guard) = &arm.guard {
            self.replaced.extend(matched.bindings.iter().cloned());
            conditions.push(self.text(guard));
            matched.bindings.iter().for_each(|(local, _)| _ = self.replaced.remove(local));
        } else if is_last {
            conditions.clear();
        }
        let condition = (!conditions.is_empty()).then(|| conditions.join(" && "));
        (matched, condition)
    }

    fn declare(&self, matched: &Matched, out: &mut String) {
        for (local, value) in &matched.bindings {
            let qualifier = self.qualifier(*local);
            out.push_str(&format!("{qualifier}auto {} = {value};\n", self.local(*local)));
        }
    }

    fn qualifier(&self, local: LocalId) -> &'static str {
        if self.function.locals[local.0].is_mutable { "" } else { "const " }
    }

    fn pattern(&mut self, pattern: &Pattern, value: String, into: &mut Matched) {
        match pattern {
            Pattern::Any => {}
            Pattern::Bind(local) => into.bindings.push((*local, value)),
            Pattern::Value(expected) => {
                into.conditions.push(format!("p_eq({value}, {})", self.text(expected)));
            }
            Pattern::Range(from, to) => {
                if let Some(from) = from {
                    into.conditions.push(format!("p_ge({value}, {})", self.text(from)));
                }
                if let Some((to, is_inclusive)) = to {
                    let less = if *is_inclusive { "p_le" } else { "p_lt" };
                    into.conditions.push(format!("{less}({value}, {})", self.text(to)));
                }
            }
            Pattern::Some(inner) => {
                into.conditions.push(format!("p_is_some({value})"));
                self.pattern(inner, format!("p_value({value})"), into);
            }
            Pattern::None => into.conditions.push(format!("p_is_none({value})")),
            Pattern::Either(cases) => {
                let cases = cases.iter().map(|case| {
                    let mut matched = Matched::default();
                    self.pattern(case, value.clone(), &mut matched);
                    match matched.conditions.is_empty() {
                        true => "true".into(),
                        false => format!("({})", matched.conditions.join(" && ")),
                    }
                });
                let cases: Vec<String> = cases.collect();
                into.conditions.push(format!("({})", cases.join(" || ")));
            }
        }
    }

    fn statement(&mut self, statement: &Statement, out: &mut String) {
        match statement {
            Statement::Let { local, ty, value } => self.let_statement(*local, ty, value, out),
            Statement::LetElse { pattern, value, otherwise } => {
                let name = self.temporary();
                let value = self.text(value);
                out.push_str(&format!("const auto {name} = {value};\n"));
                let mut matched = Matched::default();
                self.pattern(pattern, name, &mut matched);
                if !matched.conditions.is_empty() {
                    out.push_str(&format!("if (!({})) {{\n", matched.conditions.join(" && ")));
                    self.block(otherwise, Sink::Return, out);
                    out.push_str("}\n");
                }
                self.declare(&matched, out);
            }
            Statement::Assign { place, operator: None, value } => {
                let place = self.text(place);
                self.sink(value, Sink::Assign(&place), out);
            }
            Statement::Assign { place, operator: Some(operator), value } => {
                let (place, value) = (self.text(place), self.text(value));
                out.push_str(&format!("{}_to({place}, {value});\n", operator_name(*operator)));
            }
            Statement::Evaluate(value) => self.sink(value, Sink::Discard, out),
            Statement::Return(Some(value)) => self.sink(value, Sink::Return, out),
            Statement::Return(None) => out.push_str("return Unit{};\n"),
            Statement::For { local, from, to, is_inclusive, body } => {
                self.for_loop(*local, (from, to, *is_inclusive), body, out);
            }
            Statement::Break => out.push_str("break;\n"),
            Statement::Continue => out.push_str("continue;\n"),
        }
    }

    fn let_statement(
        &mut self,
        local: Option<LocalId>,
        ty: &Option<Type>,
        value: &Option<Expression>,
        out: &mut String,
    ) {
        let Some(local) = local else {
            if let Some(value) = value {
                self.sink(value, Sink::Discard, out);
            }
            return;
        };
        let name = self.local(local);
        let Some(value) = value else {
            let ty = ty.as_ref().map(type_name).expect("the parser asks for it");
            return out.push_str(&format!("{ty} {name};\n"));
        };
        let qualifier = self.qualifier(local);
        match ty.as_ref().map(type_name) {
            None => {
                let value = self.text(value);
                out.push_str(&format!("{qualifier}auto {name} = {value};\n"));
            }
            Some(ty) if matches!(value.kind, Kind::If(..) | Kind::Match(..) | Kind::Block(_)) => {
                out.push_str(&format!("{ty} {name};\n"));
                self.sink(value, Sink::Assign(&name), out);
            }
            Some(ty) => {
                let value = self.text(value);
                out.push_str(&format!("{qualifier}{ty} {name} = p_to<{ty}>({value});\n"));
            }
        }
    }

    fn for_loop(
        &mut self,
        local: Option<LocalId>,
        (from, to, is_inclusive): (&Expression, &Expression, bool),
        body: &Block,
        out: &mut String,
    ) {
        let (first, last, next) = (self.temporary(), self.temporary(), self.temporary());
        let (from, to) = (self.text(from), self.text(to));
        let ty = format!("CommonOf<decltype({first}), decltype({last})>");
        let step = format!("{next} = p_add({next}, p_int(1))");
        out.push_str(&format!("{{\nauto {first} = {from};\nauto {last} = {to};\n"));
        out.push_str(&format!("auto {next} = p_to<{ty}>({first});\n"));
        if is_inclusive {
            // The greatest number has no successor.
            let more = self.temporary();
            out.push_str(&format!(
                "for (bool {more} = p_le({next}, {last}); {more}; \
                 {more} = p_lt({next}, {last}), {step}) {{\n"
            ));
        } else {
            out.push_str(&format!("for (; p_lt({next}, {last}); {step}) {{\n"));
        }
        if let Some(local) = local {
            let qualifier = self.qualifier(local);
            out.push_str(&format!("{qualifier}auto {} = {next};\n", self.local(local)));
        }
        self.block(body, Sink::Discard, out);
        out.push_str("}\n}\n");
    }

    /// A lambda that takes nothing and yields a value.
    fn lambda(&mut self, write: impl FnOnce(&mut Self, &mut String)) -> String {
        let mut body = String::new();
        write(self, &mut body);
        format!("[&]() {{\n{body}}}")
    }

    /// An expression.
    fn text(&mut self, value: &Expression) -> String {
        match &value.kind {
            Kind::Unit => "Unit{}".into(),
            Kind::Bool(truth) => truth.to_string(),
            Kind::Integer(bits, None) => format!("p_int({bits}ull)"),
            Kind::Integer(bits, Some(ty)) => format!("(({}){bits}ull)", type_name(ty)),
            Kind::Float(digits, None) => {
                format!("p_float({}, {})", float(digits, "f64"), float(digits, "f32"))
            }
            Kind::Float(digits, Some(ty)) => float(digits, &type_name(ty)),
            Kind::Local(local) => self.local(*local),
            Kind::Parameter(name) => format!("p_load(self.{name})"),
            Kind::Constant(name) => format!("{name}()"),
            Kind::TypeConstant(ty, name) => format!("Numbers<{}>::{name}()", type_name(ty)),
            Kind::Field(of, name) => format!("{}.{name}", self.text(of)),
            Kind::Index(of, index) => format!("p_at({}, {})", self.text(of), self.text(index)),
            Kind::Unary(Unary::Negate, of) => format!("p_neg({})", self.text(of)),
            Kind::Unary(Unary::Not, of) => format!("p_not({})", self.text(of)),
            Kind::Binary(Binary::And, a, b) => format!("({} && {})", self.text(a), self.text(b)),
            Kind::Binary(Binary::Or, a, b) => format!("({} || {})", self.text(a), self.text(b)),
            Kind::Binary(operator, a, b) => {
                format!("{}({}, {})", operator_name(*operator), self.text(a), self.text(b))
            }
            Kind::Cast(of, ty) => format!("p_cast<{}>({})", type_name(ty), self.text(of)),
            Kind::Call(name, _, arguments) if takes_value(arguments) => {
                self.call_with_value(name, arguments)
            }
            Kind::Call(name, types, arguments) => {
                let types: Vec<_> = types.iter().map(type_name).collect();
                let types =
                    if types.is_empty() { "".into() } else { format!("<{}>", types.join(", ")) };
                format!("{name}{types}({})", self.list(arguments))
            }
            Kind::CallUser(name, arguments) => format!("{name}({})", self.list(arguments)),
            Kind::Array(values) => format!("p_array({})", self.list(values)),
            Kind::Repeat(value, count) => format!("p_repeat<{count}>({})", self.text(value)),
            Kind::Mutable(place) => self.text(place),
            Kind::Closure(_, body) => {
                self.lambda(|emitter, out| emitter.sink(body, Sink::Lambda, out))
            }
            Kind::Struct { ty, fields, base } => {
                let (ty, name) = (type_name(ty), self.temporary());
                let base =
                    base.as_ref().map_or("{}".into(), |base| format!(" = {}", self.text(base)));
                let mut text = format!("[&]() {{\n{ty} {name}{base};\n");
                for (field, value) in fields {
                    let value = self.text(value);
                    text.push_str(&format!("p_set({name}.{field}, {value});\n"));
                }
                text.push_str(&format!("return {name};\n}}()"));
                text
            }
            Kind::Block(Block { statements, tail: Some(tail) }) if statements.is_empty() => {
                self.text(tail)
            }
            Kind::Block(_) | Kind::Statement(_) => {
                self.lambda(|emitter, out| emitter.sink(value, Sink::Lambda, out)) + "()"
            }
            Kind::If(condition, then, otherwise) => {
                let condition = self.text(condition);
                let then = self.lambda(|emitter, out| emitter.block(then, Sink::Lambda, out));
                let otherwise = self.lambda(|emitter, out| match otherwise {
                    Some(otherwise) => emitter.sink(otherwise, Sink::Lambda, out),
                    None => out.push_str("return Unit{};\n"),
                });
                format!("p_select({condition}, {then}, {otherwise})")
            }
            Kind::Match(matched, arms) => {
                let (name, matched) = (self.temporary(), self.text(matched));
                let choice = self.choice(&name, arms);
                format!("[&]() {{\nconst auto {name} = {matched};\nreturn {choice}();\n}}()")
            }
        }
    }

    /// Arms as a lambda that yields the value of the first that fits.
    fn choice(&mut self, name: &str, arms: &[Arm]) -> String {
        let Some((arm, rest)) = arms.split_first() else {
            return "[&]() { return Unit{}; }".into();
        };
        let (matched, condition) = self.condition(name, arm, rest.is_empty());
        let then = self.lambda(|emitter, out| {
            emitter.declare(&matched, out);
            emitter.sink(&arm.body, Sink::Lambda, out);
        });
        match condition {
            None => then,
            Some(condition) => {
                let rest = self.choice(name, rest);
                format!("[&]() {{\nreturn p_select({condition}, {then}, {rest});\n}}")
            }
        }
    }

    /// A method of an option with a closure that takes the value of the option. NVRTC refuses lambdas
    /// whose parameters are `auto`, so the option is bound first and tells the type.
    fn call_with_value(&mut self, name: &str, arguments: &[Expression]) -> String {
        let option = self.temporary();
        let mut texts = vec![option.clone()];
        for argument in &arguments[1..] {
            texts.push(match &argument.kind {
                Kind::Closure(locals, body) => {
                    let parameter = |local: &LocalId| {
                        format!("decltype({option}.value) {}", self.local(*local))
                    };
                    let parameters: Vec<_> = locals.iter().map(parameter).collect();
                    let mut text = format!("[&]({}) {{\n", parameters.join(", "));
                    self.sink(body, Sink::Lambda, &mut text);
                    text + "}"
                }
                _ => self.text(argument),
            });
        }
        let receiver = self.text(&arguments[0]);
        let call = format!("{name}({})", texts.join(", "));
        format!("[&]() {{\nconst auto {option} = {receiver};\nreturn {call};\n}}()")
    }

    fn list(&mut self, values: &[Expression]) -> String {
        let texts: Vec<_> = values.iter().map(|value| self.text(value)).collect();
        texts.join(", ")
    }
}

/// Whether one of the arguments is a closure with a parameter.
fn takes_value(arguments: &[Expression]) -> bool {
    let is_closure = |argument: &Expression| matches!(&argument.kind, Kind::Closure(locals, _) if !locals.is_empty());
    arguments.iter().any(is_closure)
}

/// A float of a type. C++ knows no literal for numbers that round to infinity.
fn float(digits: &str, ty: &str) -> String {
    let (is_infinite, suffix) = match ty {
        "f32" => (digits.parse::<f32>().is_ok_and(f32::is_infinite), "f"),
        _ => (digits.parse::<f64>().is_ok_and(f64::is_infinite), ""),
    };
    if is_infinite {
        return format!("Numbers<{ty}>::INFINITY_()");
    }
    let is_whole = !digits.contains(['.', 'e', 'E']);
    format!("{digits}{}{suffix}", if is_whole { ".0" } else { "" })
}

fn operator_name(operator: Binary) -> &'static str {
    match operator {
        Binary::Add => "p_add",
        Binary::Sub => "p_sub",
        Binary::Mul => "p_mul",
        Binary::Div => "p_div",
        Binary::Rem => "p_rem",
        Binary::BitAnd => "p_bit_and",
        Binary::BitOr => "p_bit_or",
        Binary::BitXor => "p_bit_xor",
        Binary::Shl => "p_shl",
        Binary::Shr => "p_shr",
        Binary::Eq => "p_eq",
        Binary::Ne => "p_ne",
        Binary::Lt => "p_lt",
        Binary::Le => "p_le",
        Binary::Gt => "p_gt",
        Binary::Ge => "p_ge",
        Binary::And | Binary::Or => unreachable!("written as C++ operators"),
    }
}

/// Indents lines by the braces that are open.
pub fn indent(text: &str) -> String {
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
