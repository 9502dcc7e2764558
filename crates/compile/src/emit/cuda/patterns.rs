//! Patterns: what they ask of a value, what they bind, and the arms that they guard.

use super::{Emitter, Sink};
use crate::ir::{Arm, LocalIndex, Pattern};

/// What a pattern asks of a value, and what it binds.
#[derive(Default)]
pub(super) struct Matched {
    pub(super) conditions: Vec<String>,
    bindings: Vec<(LocalIndex, String)>,
}

impl Emitter<'_> {
    /// Arms as a chain of `if` and `else`.
    pub(super) fn arms(&mut self, name: &str, arms: &[Arm], sink: Sink<'_>, out: &mut String) {
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

    pub(super) fn declare(&self, matched: &Matched, out: &mut String) {
        for (local, value) in &matched.bindings {
            let qualifier = self.qualifier(*local);
            out.push_str(&format!("{qualifier}auto {} = {value};\n", self.local(*local)));
        }
    }

    pub(super) fn pattern(&mut self, pattern: &Pattern, value: String, into: &mut Matched) {
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

    /// Arms as a lambda that yields the value of the first that fits.
    pub(super) fn choice(&mut self, name: &str, arms: &[Arm]) -> String {
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
}
