//! Random programs, as text.

/// A source of random numbers (xorshift).
pub(crate) struct Random(u64);

impl Random {
    /// Numbers that follow from one number (splitmix64).
    pub(crate) fn of(number: usize) -> Self {
        let mut seed = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        seed = (seed ^ seed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        seed = (seed ^ seed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        Random(seed ^ seed >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    pub(crate) fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.below(of.len())]
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// A random program over fields `a`, `b` of whole numbers, `c` of multiples of a power of two, `d` of truth
/// values. Many break the rules, and must be refused.
pub(crate) fn program(random: &mut Random) -> String {
    let mut out = String::from(
        "fn random(graph: &Graph<u32>, root: Vertex, k: u32) -> (Field<u32>, Field<u32>, Field<f64>, Field<bool>) {\n",
    );
    let start = random.one(&[
        "v.id()",
        "u32::MAX",
        "graph.in_degree(v) as u32",
        "if v == root { 0u32 } else { 9 }",
        "7u32",
    ]);
    out += &format!("let mut a = graph.field_with(|v| {start});\n");
    let start = random.one(&["v.id()", "0u32", "graph.out_degree(v) as u32", "k"]);
    out += &format!("let mut b = graph.field_with(|v| {start});\n");
    out += random.one(&[
        "let mut c = graph.field(1.0);\n",
        "let mut c = graph.field_with(|v| v.id() as f64);\n",
    ]);
    out += random.one(&[
        "let mut d = graph.field(false);\n",
        "let mut d = graph.field_with(|v| v.id() < 3);\n",
    ]);
    if random.chance(40) {
        out += "a[root] = 0;\n";
    }
    out += "let mut n = 3u32;\nlet mut sum = 0u32;\nlet mut list = Worklist::new();\n";
    for _ in 0..1 + random.below(3) {
        construct(random, &mut out);
    }
    out += "(a, b, c, d)\n}\n";
    out
}

fn construct(random: &mut Random, out: &mut String) {
    match random.below(10) {
        0..=3 => operator(random, "for v in graph.vertices()", out),
        4 => {
            *out += &format!("for round in 0..{} {{\n", 1 + random.below(3));
            operator(random, "for v in graph.vertices()", out);
            if random.chance(30) {
                *out += "n += round;\n";
            }
            *out += "}\n";
        }
        5 => settling(random, out),
        6 => {
            *out += random.one(&[
                "list.push(root);\n",
                "for v in graph.vertices() { if a[v] < 5 { list.push(v); } }\n",
            ]);
            operator(random, "while let Some(v) = list.pop()", out);
        }
        7 => firing(random, out),
        8 => levels(random, out),
        _ => {
            *out += "sum = 0;\n";
            operator(random, "for v in graph.vertices()", out);
            *out += "if sum > 20 { n += 1; } else { n = sum; }\n";
        }
    }
}

/// A loop over vertices.
fn operator(random: &mut Random, head: &str, out: &mut String) {
    *out += &format!("{head} {{\n");
    if random.chance(40) {
        *out += &format!("let x = {};\n", whole(random, &["v"]));
    } else {
        *out += "let x = n;\n";
    }
    let is_guarded = random.chance(35);
    if is_guarded {
        *out += &format!("if {} {{\n", truth(random, &["v"]));
    }
    for _ in 0..random.below(2) {
        own(random, out);
    }
    if random.chance(75) {
        if random.chance(50) {
            *out += "let mut y = 0u32;\n";
            edges(random, true, out);
            *out += &format!("{}[v] = y;\n", random.one(&["a", "b"]));
        } else {
            edges(random, false, out);
        }
        for _ in 0..random.below(2) {
            own(random, out);
        }
    }
    if is_guarded {
        *out += "}\n";
    }
    *out += "}\n";
}

/// A statement about the vertex itself.
fn own(random: &mut Random, out: &mut String) {
    let statement = match random.below(6) {
        0 => format!("a[v] = {};\n", whole(random, &["v"])),
        1 => format!("b[v] = b[v].min({});\n", whole(random, &["v"])),
        2 => format!("c[v] = {};\n", real(random, &["v"])),
        3 => format!("d[v] = {};\n", truth(random, &["v"])),
        4 => format!("sum += {};\n", whole(random, &["v"])),
        _ => "let taken = b[v].take(); a[v] = a[v].max(taken);\n".into(),
    };
    *out += &statement;
}

fn edges(random: &mut Random, gathers: bool, out: &mut String) {
    let (edges, far) =
        [("out_edges", "target"), ("in_edges", "source"), ("edges", "target")][random.below(3)];
    *out += &format!("for e in graph.{edges}(v) {{\nlet t = e.{far};\n");
    let is_guarded = random.chance(30);
    if is_guarded {
        *out += &format!("if {} {{\n", truth(random, &["v", "t"]));
    }
    if gathers {
        *out += &match random.below(5) {
            0 => format!("y += {};\n", edge_whole(random)),
            4 => format!("y -= {};\n", edge_whole(random)),
            1 => format!("y = y.max({});\n", edge_whole(random)),
            2 => format!("let z = {}; if z > y {{ y = z; }}\n", edge_whole(random)),
            _ => format!("y += {}; c[t] += {};\n", edge_whole(random), real(random, &["v"])),
        };
    } else {
        for _ in 0..1 + random.below(2) {
            *out += &match random.below(9) {
                0 => format!("a[t] = a[t].min({});\n", edge_whole(random)),
                1 => format!("b[t] += {};\n", edge_whole(random)),
                2 => format!("if b.lower(t, {}) {{ list.push(t); }}\n", edge_whole(random)),
                3 => format!("c[t] += {};\n", real(random, &["v", "t"])),
                4 => format!("d[t] |= {};\n", truth(random, &["v", "t"])),
                5 => format!("c[v] += {};\n", real(random, &["t"])),
                6 => format!("sum += {};\n", edge_whole(random)),
                7 => format!("if {} {{ d[t] = true; }}\n", truth(random, &["t"])),
                _ => format!(
                    "if {} {{ list.push({}); }}\n",
                    truth(random, &["v", "t"]),
                    random.one(&["v", "t"])
                ),
            };
        }
    }
    if is_guarded {
        *out += "}\n";
    }
    *out += "}\n";
}

/// FieldValues that only improve.
fn settling(random: &mut Random, out: &mut String) {
    let value = |random: &mut Random, from: &str| {
        let more = random.one(&["e.weight", "1", "k", "b[v]"]).to_string();
        match random.below(5) {
            0 => format!("a[{from}]"),
            1 => format!("a[{from}].saturating_add({more})"),
            2 => format!("a[{from}].max({more})"),
            3 => format!("a[{from}] + {more}"),
            _ => format!("a[{from}].saturating_sub({more})"),
        }
    };
    let which = random.one(&["lower", "raise"]);
    match random.below(4) {
        3 => {
            let guard = random.one(&["d[v]", "true", "a[v] > 2", "!d[v]"]);
            let value = random.one(&["d[v]", "true", "e.weight > 2"]);
            *out += &format!(
                "loop {{\nlet mut changed = false;\nfor v in graph.vertices() {{\nif {guard} {{\n\
                 for e in graph.out_edges(v) {{ changed |= d.raise(e.target, {value}); }}\n}}\n}}\n\
                 if !changed {{ break; }}\n}}\n"
            );
        }
        0 => {
            let value = value(random, "v");
            *out += &format!(
                "list.push(root);\nwhile let Some(v) = list.pop() {{\nfor e in graph.out_edges(v) {{\n\
                 if a.{which}(e.target, {value}) {{ list.push(e.target); }}\n}}\n}}\n"
            );
        }
        1 => {
            let guard = random.one(&["true", "a[v] != u32::MAX", "a[v] > 3", "d[v]"]);
            let (value, edges) = (value(random, "v"), random.one(&["out_edges", "edges"]));
            *out += &format!(
                "loop {{\nlet mut changed = false;\nfor v in graph.vertices() {{\nif {guard} {{\n\
                 for e in graph.{edges}(v) {{ changed |= a.{which}(e.target, {value}); }}\n}}\n}}\n\
                 if !changed {{ break; }}\n}}\n"
            );
        }
        _ => {
            let value = value(random, "e.source");
            *out += &format!(
                "loop {{\nlet mut changed = false;\nfor v in graph.vertices() {{\n\
                 for e in graph.in_edges(v) {{ changed |= a.{which}(v, {value}); }}\n}}\n\
                 if !changed {{ break; }}\n}}\n"
            );
        }
    }
}

/// Vertices that act once.
fn firing(random: &mut Random, out: &mut String) {
    let (compare, update) = [("<", "-="), (">", "+="), ("<", "+=")][random.below(3)];
    let amount = random.one(&["1", "e.weight", "k"]);
    let latch = random.one(&["d[v]", "!d[v]"]);
    let set = if latch == "d[v]" { "false" } else { random.one(&["true", "true", "false"]) };
    let edges = random.one(&["out_edges", "edges"]);
    *out += &format!(
        "let mut rest = graph.field_with(|v| (graph.in_degree(v) + graph.out_degree(v)) as u32 * 9);\n\
         loop {{\nlet mut removed = 0u32;\nfor v in graph.vertices() {{\n\
         if {latch} && rest[v] {compare} {} {{\nd[v] = {set};\nremoved += 1;\n\
         for e in graph.{edges}(v) {{ rest[e.target] {update} {amount}; }}\n}}\n}}\n\
         if removed == 0 {{ break; }}\n}}\nfor v in graph.vertices() {{ b[v] = rest[v]; }}\n",
        random.one(&["k * 9", "20", "n"])
    );
}

/// Vertices that are given a value level by level.
fn levels(random: &mut Random, out: &mut String) {
    let (free, next) = (random.one(&["u32::MAX", "9", "0"]), random.one(&["n + 1", "n", "n + 2"]));
    let from = random.one(&["n", "n", "k"]);
    *out += &format!(
        "n = 0;\nfor round in 0..4 {{\nlet mut found = false;\nfor v in graph.vertices() {{\nif a[v] == {from} {{\n\
         for e in graph.out_edges(v) {{\nif a[e.target] == {free} {{ a[e.target] = {next}; found = true; }}\n}}\n}}\n}}\n"
    );
    if random.chance(60) {
        let there = random.one(&["n + 1", "n + 1", "n"]);
        *out += &format!(
            "for v in graph.vertices() {{\nif a[v] == n {{\nfor e in graph.out_edges(v) {{\n\
             if a[e.target] == {there} {{ b[e.target] += b[v]; }}\n}}\n}}\n}}\n"
        );
    }
    *out += "if !found { break; }\nn += 1;\n}\n";
}

fn whole(random: &mut Random, at: &[&str]) -> String {
    let at = at[random.below(at.len())];
    match random.below(9) {
        0 => format!("a[{at}]"),
        1 => format!("b[{at}]"),
        2 => format!("{at}.id()"),
        3 => "n".into(),
        4 => format!("{}", random.below(9)),
        5 => format!("a[{at}].min(b[{at}])"),
        6 => format!("b[{at}].saturating_add(k)"),
        7 => format!("(if d[{at}] {{ a[{at}] }} else {{ k }})"),
        _ => format!("(graph.out_degree({at}) as u32)"),
    }
}

fn edge_whole(random: &mut Random) -> String {
    match random.below(4) {
        0 => "e.weight".into(),
        1 => whole(random, &["v", "t"]).replace("graph.out_degree", "graph.in_degree"),
        2 => format!("{}.wrapping_add(e.weight)", atom(random)),
        _ => format!("{}.min({})", atom(random), atom(random)),
    }
}

fn atom(random: &mut Random) -> &'static str {
    random.one(&["x", "a[v]", "b[t]", "a[t]", "b[v]", "t.id()", "n"])
}

fn real(random: &mut Random, at: &[&str]) -> String {
    let at = at[random.below(at.len())];
    match random.below(3) {
        0 => format!("c[{at}] * 0.5"),
        1 => format!("({at}.id() % 4) as f64"),
        _ => "0.25".into(),
    }
}

fn truth(random: &mut Random, at: &[&str]) -> String {
    let place = at[random.below(at.len())];
    match random.below(5) {
        0 => format!("d[{place}]"),
        1 => format!("{} < {}", whole(random, at), whole(random, at)),
        2 => format!("{place} == root"),
        3 => format!("a[{place}] == n"),
        _ => format!("!d[{place}] && b[{place}] > 2"),
    }
}

/// A small random graph: its number of vertices, and its edges by their sources, with weights.
pub(crate) fn random_graph(random: &mut Random) -> (usize, Vec<(u32, u32, u32)>) {
    let vertices = 1 + random.below(9);
    let edges = (0..random.below(3 * vertices)).map(|_| {
        let [source, target] = [random.below(vertices), random.below(vertices)];
        (source as u32, target as u32, random.below(6) as u32)
    });
    let mut edges: Vec<_> = edges.collect();
    edges.sort_by_key(|edge| edge.0);
    (vertices, edges)
}
