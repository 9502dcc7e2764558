//! Statements.

use super::expressions::operator_name;
use super::patterns::Matched;
use super::{Emitter, Sink, type_name};
use crate::ir::{Block, Expression, Kind, LocalIndex, Statement, Type};

impl Emitter<'_> {
    pub(super) fn statement(&mut self, statement: &Statement, out: &mut String) {
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
        local: Option<LocalIndex>,
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
        local: Option<LocalIndex>,
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
}
