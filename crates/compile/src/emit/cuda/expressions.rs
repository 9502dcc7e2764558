//! Expressions.

use super::{Emitter, Sink, type_name};
use crate::ir::{Binary, Block, Expression, Kind, LocalIndex, Type, Unary};

impl Emitter<'_> {
    /// A lambda that takes nothing and yields a value.
    pub(super) fn lambda(&mut self, write: impl FnOnce(&mut Self, &mut String)) -> String {
        let mut body = String::new();
        write(self, &mut body);
        format!("[&]() {{\n{body}}}")
    }

    /// An expression.
    pub(super) fn text(&mut self, value: &Expression) -> String {
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
            Kind::Struct { ty, fields, base } => self.struct_literal(ty, fields, base.as_deref()),
            Kind::Block(Block { statements, tail: Some(tail) }) if statements.is_empty() => {
                self.text(tail)
            }
            Kind::Block(_) | Kind::Statement(_) => {
                self.lambda(|emitter, out| emitter.sink(value, Sink::Lambda, out)) + "()"
            }
            Kind::If(condition, then, otherwise) => {
                self.selection(condition, then, otherwise.as_deref())
            }
            Kind::Match(matched, arms) => {
                let (name, matched) = (self.temporary(), self.text(matched));
                let choice = self.choice(&name, arms);
                format!("[&]() {{\nconst auto {name} = {matched};\nreturn {choice}();\n}}()")
            }
        }
    }

    fn struct_literal(
        &mut self,
        ty: &Type,
        fields: &[(String, Expression)],
        base: Option<&Expression>,
    ) -> String {
        let (ty, name) = (type_name(ty), self.temporary());
        let base = base.map_or("{}".into(), |base| format!(" = {}", self.text(base)));
        let mut text = format!("[&]() {{\n{ty} {name}{base};\n");
        for (field, value) in fields {
            let value = self.text(value);
            text.push_str(&format!("p_set({name}.{field}, {value});\n"));
        }
        text.push_str(&format!("return {name};\n}}()"));
        text
    }

    /// An `if` inside an expression: a lambda per branch.
    fn selection(
        &mut self,
        condition: &Expression,
        then: &Block,
        otherwise: Option<&Expression>,
    ) -> String {
        let condition = self.text(condition);
        let then = self.lambda(|emitter, out| emitter.block(then, Sink::Lambda, out));
        let otherwise = self.lambda(|emitter, out| match otherwise {
            Some(otherwise) => emitter.sink(otherwise, Sink::Lambda, out),
            None => out.push_str("return Unit{};\n"),
        });
        format!("p_select({condition}, {then}, {otherwise})")
    }

    /// A method of an option with a closure that takes the value of the option. NVRTC refuses lambdas
    /// whose parameters are `auto`, so the option is bound first and tells the type.
    fn call_with_value(&mut self, name: &str, arguments: &[Expression]) -> String {
        let option = self.temporary();
        let mut texts = vec![option.clone()];
        for argument in &arguments[1..] {
            texts.push(match &argument.kind {
                Kind::Closure(locals, body) => {
                    let parameter = |local: &LocalIndex| {
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
pub(crate) fn float(digits: &str, ty: &str) -> String {
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

pub(crate) fn operator_name(operator: Binary) -> &'static str {
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
