//! Random programs, as text, of the shapes that more engines than `steps` run, and of the class *flowing*.

use super::generate::Random;

/// Random programs of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Family {
    /// Of any shape.
    General,
    /// Most are relaxations.
    Relaxation,
    /// Most are stationary gathers.
    Gather,
    /// Most are of the class *flowing*.
    Flow,
}

impl Family {
    /// A random program of this family, with the parameters `root: Vertex` and `k: u32`.
    pub(crate) fn program(self, random: &mut Random) -> String {
        match self {
            Family::General => super::generate::program(random),
            Family::Relaxation => relaxation(random),
            Family::Gather => gather(random),
            Family::Flow => flow(random),
        }
    }

    /// By how much answers of two orders of visits may differ, relative to numbers greater than 1.
    pub(crate) fn tolerance(self) -> f64 {
        if self == Family::Flow { 1e-3 } else { 0.0 }
    }
}

/// A type of values, its least and its greatest one.
type Bounds = (&'static str, &'static str, &'static str);

const WHOLE: [Bounds; 4] = [
    ("u32", "u32::MIN", "u32::MAX"),
    ("u64", "u64::MIN", "u64::MAX"),
    ("i32", "i32::MIN", "i32::MAX"),
    ("i64", "i64::MIN", "i64::MAX"),
];
const REAL: [Bounds; 2] =
    [("f32", "f32::NEG_INFINITY", "f32::INFINITY"), ("f64", "f64::NEG_INFINITY", "f64::INFINITY")];

const DIRECTIONS: [(&str, &str); 3] =
    [("out_edges", "target"), ("in_edges", "source"), ("edges", "target")];

fn any_type(random: &mut Random) -> (Bounds, bool) {
    match random.below(WHOLE.len() + REAL.len()) {
        place if place < WHOLE.len() => (WHOLE[place], false),
        place => (REAL[place - WHOLE.len()], true),
    }
}

/// One field that improves, by a worklist or until nothing changes.
fn relaxation(random: &mut Random) -> String {
    let ((ty, least, greatest), is_real) = any_type(random);
    let (fold, worst, best) =
        if random.chance(65) { ("lower", greatest, least) } else { ("raise", least, greatest) };
    let first = match random.below(8) {
        0..=2 => worst.into(),
        3 if ty == "u32" => "v.id()".into(),
        4 if ty == "u32" => "k".into(),
        3 | 4 if random.chance(30) => format!("v.id() as {ty}"),
        5 => format!("if v == root {{ 0 as {ty} }} else {{ {worst} }}"),
        6 => format!("7 as {ty}"),
        _ => best.to_string(),
    };
    let mut out = format!(
        "fn random(graph: &Graph<u32>, root: Vertex, k: u32) -> Field<{ty}> {{\n\
         let mut a = graph.field_with(|v| {first});\n"
    );
    let is_drained = random.chance(50);
    if random.chance(if is_drained { 85 } else { 40 }) {
        let value = match random.below(4) {
            0 => best.into(),
            1 if ty == "u32" => "k".into(),
            _ => format!("0 as {ty}"),
        };
        out += &format!("a[root] = {value};\n");
    }
    let (edges, far) = DIRECTIONS[random.below(3)];
    let collects = !is_drained && random.chance(40);
    let (from, to) = if collects { ("t", "v") } else { ("v", "t") };
    let value = relaxed(random, from, (ty, is_real), fold);
    let is_reached = Some(format!("a[{from}] != {worst}"));
    let guard = match random.below(24) {
        0 => Some(format!("a[{from}] < 5 as {ty}")),
        1 => Some(format!("a[{from}] > 3 as {ty}")),
        2 => Some("e.weight > 2".into()),
        3..=5 => is_reached,
        // Nothing but a worklist keeps sums of whole numbers from beginning where nobody has been.
        _ if value.contains('+') && !is_real && !is_drained => is_reached,
        _ => None,
    };
    let improve = match is_drained {
        true => format!("if a.{fold}({to}, {value}) {{ list.push({to}); }}"),
        false => format!("changed |= a.{fold}({to}, {value});"),
    };
    let improve = guard.map_or(improve.clone(), |guard| format!("if {guard} {{ {improve} }}"));
    let body = format!("for e in graph.{edges}(v) {{\nlet t = e.{far};\n{improve}\n}}\n");
    out + &driven(random, is_drained, &body) + "a\n}\n"
}

/// The body of an operator, run until nothing is left to do.
fn driven(random: &mut Random, is_drained: bool, body: &str) -> String {
    if is_drained {
        let members = random.one(&[
            "let mut list = Worklist::from([root]);",
            "let mut list = Worklist::from([root]);",
            "let mut list = graph.vertices().collect::<Worklist>();",
            "let mut list = Worklist::new();\nlist.push(root);",
        ]);
        return format!("{members}\nwhile let Some(v) = list.pop() {{\n{body}}}\n");
    }
    let operator = format!("for v in graph.vertices() {{\n{body}}}\n");
    match random.below(5) {
        0 => {
            let before = random.one(&["true", "true", "k > 1", "false"]);
            format!(
                "let mut changed = {before};\nwhile changed {{\nchanged = false;\n{operator}}}\n"
            )
        }
        _ => format!("loop {{\nlet mut changed = false;\n{operator}if !changed {{ break; }}\n}}\n"),
    }
}

/// What becomes of a label along an edge: mostly something that is no better.
fn relaxed(random: &mut Random, from: &str, (ty, is_real): (&str, bool), fold: &str) -> String {
    let label = format!("a[{from}]");
    let more = match random.below(8) {
        0 => format!("k as {ty}"),
        1 | 2 if ty == "u32" => "k".into(),
        1..=3 => format!("1 as {ty}"),
        _ => format!("e.weight as {ty}"),
    };
    let (worse, better) = if fold == "lower" { ("max", "min") } else { ("min", "max") };
    match random.below(16) {
        0 | 1 => label,
        2..=5 if fold == "lower" && !ty.starts_with('i') => format!("{label} + ({more})"),
        6 | 7 if ty.starts_with('u') && fold == "lower" => {
            format!("{label}.saturating_add({more})")
        }
        8 => format!("({label} + ({more})) + 1 as {ty}"),
        9 => format!("{label}.{better}({more})"),
        10 if !is_real => format!("{label}.saturating_sub({more})"),
        11 => format!("({label} + ({more})).{}(k as {ty})", random.one(&["min", "max"])),
        12 => format!("{label}.{worse}({}.id() as {ty})", random.one(&["v", "t"])),
        _ => format!("{label}.{worse}({more})"),
    }
}

/// Rounds in which every vertex collects one value from all its neighbours. Real numbers stay multiples of a power of
/// two, and small, so that their sums are exact.
fn gather(random: &mut Random) -> String {
    let ((ty, ..), is_real) = any_type(random);
    let is_counted = random.chance(60);
    let mut out = format!(
        "fn random(graph: &Graph<u32>, root: Vertex, k: u32) -> (Field<{ty}>, Field<{ty}>, Field<bool>) {{\n\
         let mut a = graph.field_with(|v| {});\n\
         let mut b = graph.field(0 as {ty});\nlet mut d = graph.field_with(|v| v.id() < k);\n\
         let mut total = 0u64;\nlet mut turn = 0u32;\nlet mut factor = k as T;\n",
        random.one(&["(v.id() % 4) as T", "if v == root { 3 as T } else { 0 as T }", "1 as T"])
    );
    out += match is_counted {
        true => random.one(&["for round in 0..3 {\n", "for round in 0..k {\n"]),
        false => "loop {\n",
    };
    let is_ahead = random.chance(35);
    if is_ahead {
        out += &format!(
            "let mut lost = 0 as T;\nfor v in graph.vertices() {{ if {} {{ lost += {}; }} }}\n",
            random.one(&["graph.out_degree(v) == 0", "d[v]", "v == root"]),
            random.one(&["a[v]", "1 as T"])
        );
    }
    out += "let mut change = 0 as T;\n";
    if random.chance(70) {
        collecting(random, is_real, is_ahead, &mut out);
    } else {
        pushing(random, is_real, &mut out);
    }
    for _ in 0..random.below(3) {
        out += random.one(&[
            "std::mem::swap(&mut a, &mut b);\n",
            "for v in graph.vertices() { a[v] = b[v]; }\n",
            "for v in graph.vertices() { if b[v] > 2 as T { d[v] = true; total += 1; } else { a[v] = b[v]; } }\n",
            "for v in graph.vertices() { change += if d[v] { a[v] } else { b[v] }; }\n",
        ]);
    }
    out += random.one(&["turn += 1;\n", "turn += 1;\n", "turn += 1;\nfactor = turn as T;\n"]);
    out += random.one(&["", "if total > 9 { break; }\n", "if change < 3 as T { break; }\n"]);
    if !is_counted {
        out += "if turn > 2 { break; }\n";
    }
    out += "}\n(a, b, d)\n}\n";
    out.replace("as T", &format!("as {ty}"))
}

/// An operator in which vertices collect along edges.
fn collecting(random: &mut Random, is_real: bool, is_ahead: bool, out: &mut String) {
    let (edges, far) = DIRECTIONS[random.below(3)];
    let given = given(random, "t", is_real);
    let fold = match random.below(4) {
        0 => format!("y = y.max({given});"),
        1 => format!("y = y.min({given});"),
        _ => format!("y += {given};"),
    };
    let fold = if random.chance(20) { format!("if e.weight > 1 {{ {fold} }}") } else { fold };
    let own = match random.below(if is_ahead { 6 } else { 5 }) {
        0 => "y.max(a[v])",
        1 => "if y > 3 as T { y } else { a[v] }",
        2 if is_real => "y * 0.5",
        2 => "y / 2 as T",
        3 => "y + (turn as T)",
        5 => "y + lost",
        _ => "y",
    };
    *out += &format!(
        "for v in graph.vertices() {{\nlet mut y = {};\nfor e in graph.{edges}(v) {{\nlet t = e.{far};\n{fold}\n}}\n\
         let new = ({own}).min(16 as T);\n{}b[v] = new;\n{}}}\n",
        random.one(&["0 as T", "k as T", "a[v]"]),
        random.one(&["", "if v == root { d[v] = true; }\n"]),
        random.one(&["", "change += new;\n", "if d[v] { total += 1; }\n"]),
    );
}

/// An operator in which vertices give to their neighbours, and one in which these make something of it.
fn pushing(random: &mut Random, is_real: bool, out: &mut String) {
    let (edges, far) = DIRECTIONS[random.below(3)];
    let given = given(random, "v", is_real);
    let fold = random.one(&["b[t] += GIVEN;", "b[t] += GIVEN;", "b.raise(t, GIVEN);"]);
    let visit = format!(
        "for e in graph.{edges}(v) {{\nlet t = e.{far};\n{}\n}}\n",
        fold.replace("GIVEN", &given)
    );
    let visit = if random.chance(25) { format!("if d[v] {{\n{visit}}}\n") } else { visit };
    *out += &format!(
        "for v in graph.vertices() {{\n{visit}}}\nfor v in graph.vertices() {{\n{}{}}}\n",
        random.one(&["a[v] = b[v].min(16 as T);\n", "a[v] = a[v].max(b[v].min(16 as T));\n"]),
        random.one(&[
            "b[v] = 0 as T;\n",
            "b[v] = b[v].min(8 as T);\nif b[v] > 4 as T { d[v] = !d[v]; }\n"
        ]),
    );
}

/// What travels along an edge, of the vertex `of`.
fn given(random: &mut Random, of: &str, is_real: bool) -> String {
    let own = match random.below(9) {
        0 if is_real => "a[X] * 0.5",
        0 => "a[X] / 2 as T",
        1 => "a[X] + 1 as T",
        2 => "a[X].min(k as T)",
        3 => "(if d[X] { a[X] } else { 0 as T })",
        4 => "(graph.out_degree(X) as T)",
        5 => "(a[X] + (turn as T))",
        6 => "(a[X] * factor)",
        _ => "a[X]",
    };
    let own = own.replace('X', of);
    match random.below(4) {
        0 => format!("({own}) * (e.weight as T)"),
        1 => format!("({own}).max(e.weight as T)"),
        _ => own,
    }
}

/// Vertices take a quantity and pass shares of it on. Shares add up to less than the whole, so this ends.
fn flow(random: &mut Random) -> String {
    let (ty, ..) = REAL[random.below(2)];
    let (edges, far, degree) = [
        ("out_edges", "target", "graph.out_degree(v)"),
        ("in_edges", "source", "graph.in_degree(v)"),
        ("edges", "target", "(graph.out_degree(v) + graph.in_degree(v))"),
    ][random.below(3)];
    let is_from_root = random.chance(40);
    let starts = match is_from_root {
        true => "let mut rest = graph.field(0 as T);\nrest[root] = 2 as T;\nlet mut work = Worklist::from([root]);\n",
        false => random.one(&[
            "let mut rest = graph.field(1 as T);\nlet mut work = graph.vertices().collect::<Worklist>();\n",
            "let mut rest = graph.field_with(|v| (v.id() % 4) as T);\nlet mut work = graph.vertices().collect::<Worklist>();\n",
            "let mut rest = graph.field(1 as T);\nlet mut work = Worklist::from([root]);\n",
        ]),
    };
    let factor = random.one(&["0.5", "0.75", "0.25"]);
    let share = match random.chance(50) {
        true => format!("let share = old * {factor} / {degree} as T;\n"),
        false => format!("let part = old / {degree} as T;\nlet share = {factor} * part;\n"),
    };
    let enough = random.one(&[
        "rest[e.FAR] > 0.00001",
        "rest[e.FAR] >= 0.00001",
        "rest[e.FAR].abs() > 0.00001",
    ]);
    let text = format!(
        "fn random(graph: &Graph<u32>, root: Vertex, k: u32) -> (Field<T>, Field<T>) {{\n\
         let mut rank = graph.field(0 as T);\n{starts}while let Some(v) = work.pop() {{\n\
         let old = rest[v].take();\n{}{share}for e in graph.{edges}(v) {{\n\
         rest[e.FAR] += share;\nif {enough} {{ work.push(e.FAR); }}\n}}\n}}\n(rank, rest)\n}}\n",
        random.one(&["rank[v] += old;\n", "rank[v] += old * 0.5;\n", ""]),
    );
    let text = text.replace("FAR", far);
    text.replace("as T", &format!("as {ty}")).replace("Field<T>", &format!("Field<{ty}>"))
}
