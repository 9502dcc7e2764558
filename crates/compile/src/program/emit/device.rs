//! Operators as text for devices: functions over the columns of a host, and kernels that call them for vertices and
//! edges.
//!
//! Threads fold what does not depend on the order, least and greatest values and sums of whole numbers, wherever edges
//! are visited. Sums of real numbers are collected row by row, at whichever end of edges they belong to, so that
//! their order depends on the row alone.

mod acts;
mod expressions;

use std::fmt::Write;

use parton_plan::{ColumnRole, Folding, Instruction};

use super::edges::folded;
use crate::emit::cuda::indent;
use crate::program::ir::{
    Act, ActKind, Expr, ExprKind, FieldId, ScalarId, Ty, VertexPlace, each_expression,
};
use crate::program::lower::Lowered;
use acts::Keep;

/// Why some programs do not run on devices.
pub(crate) const ROUNDED_OTHERWISE: &str = "devices round `ln` and `exp` differently";

/// Whether devices round an expression itself differently.
pub(crate) fn is_rounded_otherwise_on_devices(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Method("ln" | "exp", _))
}

/// The operators of a program as a device gets them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceText {
    /// Structs, functions and kernels.
    pub text: String,
    /// The names of the kernels.
    pub kernels: Vec<String>,
}

/// The operators of a program for devices, or why there are none.
pub fn device(lowered: &Lowered) -> Result<DeviceText, &'static str> {
    if asks_for_rounding(lowered) {
        return Err(ROUNDED_OTHERWISE);
    }
    let mut writer = Writer { lowered, out: DeviceText::default(), checks: false };
    writer.structs();
    writer.starts();
    for number in 0..lowered.operators.len() {
        writer.operator(number);
    }
    writer.out.text = indent(&writer.out.text);
    Ok(writer.out)
}

fn asks_for_rounding(lowered: &Lowered) -> bool {
    let mut asks = false;
    let mut note = |part: &Expr| asks |= is_rounded_otherwise_on_devices(part);
    lowered
        .values
        .iter()
        .filter(|value| !value.is_uniform())
        .for_each(|value| value.walk(&mut note));
    for code in &lowered.operators {
        for acts in code.all() {
            each_expression(acts, &mut note);
        }
    }
    asks
}

/// The name of a type.
fn name(ty: Ty) -> &'static str {
    if ty == Ty::Vertex { "u32" } else { ty.name() }
}

struct Writer<'l> {
    lowered: &'l Lowered,
    out: DeviceText,
    /// Whether whole numbers that do not fit their type end the run.
    checks: bool,
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        self.out.text.push_str(line);
        self.out.text.push('\n');
    }

    fn ty(&self, id: FieldId) -> Ty {
        self.lowered.program.fields[id.0].ty
    }

    /// The reduction of an accumulator, or of a column that is set.
    fn reduction(&self, id: FieldId) -> String {
        match self.lowered.plan.columns[id.0].role {
            ColumnRole::Accumulator(fold) => folding(fold, self.ty(id)),
            _ => format!("Latest<{}>", name(self.ty(id))),
        }
    }

    /// Whether the order of contributions can be seen in their fold.
    fn is_ordered(&self, id: FieldId) -> bool {
        self.lowered.plan.columns[id.0].is_ordered()
    }

    /// Scalars that operators fold values into: number, type, reduction.
    fn tallies(&self) -> Vec<(usize, &'static str, String)> {
        let scalars = self.lowered.plan.tallies.iter().enumerate();
        let folded = scalars.filter_map(|(number, fold)| {
            let ty = self.lowered.program.scalars[number].ty;
            Some((number, name(ty), folding((*fold)?, ty)))
        });
        folded.collect()
    }

    fn structs(&mut self) {
        let plan = &self.lowered.plan;
        let tallies = self.tallies();
        let mut text = String::from("struct Tallies {\n");
        for (number, ty, _) in &tallies {
            _ = writeln!(text, "alignas(8) {ty} scalar_{number};");
        }
        text.push_str("u64 nothing;\n};\nDEVICE Tallies no_tallies() {\nTallies all = {};\n");
        for (number, _, fold) in &tallies {
            _ = writeln!(text, "all.scalar_{number} = {fold}::identity();");
        }
        text.push_str(
            "return all;\n}\nDEVICE void add_tallies(Tallies& all, const Tallies& more) {\n",
        );
        for (number, _, fold) in &tallies {
            let scalar = format!("scalar_{number}");
            _ = writeln!(text, "all.{scalar} = {fold}::combine(all.{scalar}, more.{scalar});");
        }
        text.push_str("}\nDEVICE void keep_tallies(u64* folded, const Tallies& all) {\n");
        for (number, ty, fold) in &tallies {
            _ = writeln!(
                text,
                "folded[{number}] = bits_of({fold}::combine(value_of<{ty}>(folded[{number}]), all.scalar_{number}));"
            );
        }
        let (scalars, lists) = (plan.scalars.len().max(1), plan.lists.len().max(1));
        _ = write!(
            text,
            "}}\nstruct Host : HostParts {{\nu64 scalars[{scalars}];\nu32* lists[{lists}];\n"
        );
        for (number, field) in self.lowered.program.fields.iter().enumerate() {
            _ = writeln!(text, "Column<{}> column_{number};", name(field.ty));
        }
        text.push_str("};\nSUM_TALLIES\n");
        self.out.text.push_str(&text);
    }

    /// Values that columns start with, and that single vertices are given.
    fn starts(&mut self) {
        for instruction in &self.lowered.plan.instructions {
            let (Instruction::Start { column, value, .. }
            | Instruction::Point { column, value, .. }) = instruction
            else {
                continue;
            };
            let (ty, text) =
                (name(self.ty(FieldId(*column))), self.text(&self.lowered.values[*value]));
            self.line(&format!(
                "DEVICE {ty} value_{value}(const Host& host, LocalId near) {{\nreturn {text};\n}}\n\
                 START({value}, column_{column})"
            ));
            self.out.kernels.push(format!("start_{value}"));
        }
    }

    fn operator(&mut self, number: usize) {
        let lowered = self.lowered;
        self.checks = lowered.plan.operators[number].class == parton_plan::Class::Settling;
        let code = &lowered.operators[number];
        let parts = [
            ("derive", &code.derive),
            ("before", &code.before),
            ("after", &code.after),
            ("arrive", &code.arrive),
        ];
        for (part, acts) in parts.into_iter().filter(|(_, acts)| !acts.is_empty()) {
            let body = self.acts(acts, Keep::All);
            let function = format!("{number}_{part}");
            self.line(&format!(
                "DEVICE void at_{function}(const Host& host, LocalId near, Tallies& tallies) {{\n{body}}}"
            ));
            self.kernel("part", &function, tells(acts));
        }
        if let Some((_, acts)) = &code.edges {
            self.edges(number, acts);
        }
    }

    fn edges(&mut self, number: usize, acts: &[Act]) {
        let body = self.acts(acts, Keep::Unordered);
        if !body.is_empty() {
            self.line(&format!(
                "DEVICE void along_{number}(const Host& host, LocalId near, LocalId far, Weight weight, \
                 Tallies& tallies) {{\n{body}}}"
            ));
            // Where the order of sums over all edges shows, rows are dealt out to threads once and for all.
            let kind = if self.tells_rounded(acts) { "rows" } else { "edges" };
            self.kernel(kind, &number.to_string(), tells(acts));
        }
        let ends = [(VertexPlace::Active, "near"), (VertexPlace::Far, "far")];
        for (place, end) in ends {
            let mut ordered = folded(acts, place);
            ordered.retain(|id| self.is_ordered(*id));
            for id in ordered {
                let body = self.acts(acts, Keep::Only(id));
                let (ty, fold, column) = (name(self.ty(id)), self.reduction(id), id.0);
                let collect = format!("{number}_{column}");
                self.line(&format!(
                    "DEVICE void collect_{collect}(const Host& host, LocalId near, LocalId far, Weight weight, \
                     {ty}& all, bool& any) {{\n{body}}}\n\
                     COLLECT({collect}, column_{column}, {fold}, {end})"
                ));
                let sizes =
                    ["thread", "warp", "block"].map(|size| format!("collect_{collect}_{size}"));
                self.out.kernels.extend(sizes);
            }
        }
    }

    /// A kernel that calls a function; one with another name if it also folds values into scalars.
    fn kernel(&mut self, kind: &str, function: &str, tells: bool) {
        let (upper, suffix) =
            (kind.to_uppercase(), if tells { ("_TALLYING", "_tallying") } else { ("", "") });
        self.line(&format!("{upper}{}({function})", suffix.0));
        self.out.kernels.push(format!("{kind}_{function}{}", suffix.1));
    }

    /// Whether edges fold real numbers into scalars.
    fn tells_rounded(&self, acts: &[Act]) -> bool {
        any(acts, &|kind| {
            matches!(kind, ActKind::Tally(ScalarId(scalar), ..)
                if self.lowered.program.scalars[*scalar].ty.is_float())
        })
    }
}

/// The reduction of a fold over a type.
fn folding(fold: Folding, ty: Ty) -> String {
    let name = name(ty);
    match fold {
        Folding::Min => format!("Min<{name}>"),
        Folding::Max => format!("Max<{name}>"),
        Folding::Sum => format!("Sum<{name}>"),
        Folding::Or => format!("Or<{name}>"),
    }
}

/// Whether statements fold values into scalars.
fn tells(acts: &[Act]) -> bool {
    any(acts, &|kind| matches!(kind, ActKind::Tally(..)))
}

fn any(acts: &[Act], is: &dyn Fn(&ActKind) -> bool) -> bool {
    let mut found = false;
    for act in acts {
        act.walk(&mut |act| found |= is(&act.kind));
    }
    found
}
