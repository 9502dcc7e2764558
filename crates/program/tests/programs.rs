//! Programs as users write them, against their own sequential runs.

use parton_program::{Field, Graph, Improve, Vertex, Worklist, program};

#[program(crate = parton_program)]
pub(crate) fn shortest_paths(graph: &Graph<u32>, root: Vertex) -> Field<u32> {
    let mut distance = graph.field(u32::MAX);
    distance[root] = 0;
    let mut work = Worklist::from([root]);
    while let Some(v) = work.pop() {
        for edge in graph.out_edges(v) {
            let through = distance[v].saturating_add(edge.weight);
            if distance[edge.target].lower(through) {
                work.push(edge.target);
            }
        }
    }
    distance
}

#[program(crate = parton_program)]
pub(crate) fn levels(graph: &Graph<()>, root: Vertex) -> Field<u32> {
    let mut level = graph.field(u32::MAX);
    level[root] = 0;
    let mut now = 0;
    loop {
        let mut found = false;
        for v in graph.vertices() {
            if level[v] == now {
                for e in graph.out_edges(v) {
                    if level[e.target] == u32::MAX {
                        level[e.target] = now + 1;
                        found = true;
                    }
                }
            }
        }
        if !found {
            break;
        }
        now += 1;
    }
    level
}

#[program(crate = parton_program)]
pub(crate) fn components(graph: &Graph<()>) -> Field<u32> {
    let mut label = graph.field_with(|v| v.id());
    loop {
        let mut changed = false;
        for v in graph.vertices() {
            for e in graph.edges(v) {
                changed |= label.lower(e.target, label[v]);
            }
        }
        if !changed {
            break;
        }
    }
    label
}

#[program(crate = parton_program)]
pub(crate) fn pagerank(graph: &Graph<()>, damping: f64, tolerance: f64) -> Field<f64> {
    let n = graph.num_vertices() as f64;
    let mut rank = graph.field(1.0 / n);
    let mut next = graph.field(0.0);
    loop {
        let mut change = 0.0;
        for v in graph.vertices() {
            let mut sum = 0.0;
            for e in graph.in_edges(v) {
                sum += rank[e.source] / graph.out_degree(e.source) as f64;
            }
            next[v] = (1.0 - damping) / n + damping * sum;
            change += (next[v] - rank[v]).abs();
        }
        for v in graph.vertices() {
            rank[v] = next[v];
        }
        if change < tolerance {
            break;
        }
    }
    rank
}

#[program(crate = parton_program)]
pub(crate) fn residual(graph: &Graph<()>, damping: f64, tolerance: f64) -> Field<f64> {
    let mut rank = graph.field(0.0);
    let mut residual = graph.field(1.0 - damping);
    let mut work = graph.vertices().collect::<Worklist>();
    while let Some(v) = work.pop() {
        let old = residual[v].take();
        rank[v] += old;
        let delta = old * damping / graph.out_degree(v) as f64;
        for e in graph.out_edges(v) {
            residual[e.target] += delta;
            if residual[e.target] > tolerance {
                work.push(e.target);
            }
        }
    }
    rank
}

#[program(crate = parton_program)]
pub(crate) fn core(graph: &Graph<()>, k: u32) -> Field<bool> {
    let mut alive = graph.field(true);
    let mut degree = graph.field_with(|v| graph.in_degree(v) as u32);
    loop {
        let mut removed = 0u64;
        for v in graph.vertices() {
            if alive[v] && degree[v] < k {
                alive[v] = false;
                removed += 1;
                for e in graph.out_edges(v) {
                    degree[e.target] -= 1;
                }
            }
        }
        if removed == 0 {
            break;
        }
    }
    alive
}

#[program(crate = parton_program)]
pub(crate) fn betweenness(graph: &Graph<()>, root: Vertex) -> Field<f64> {
    let mut level = graph.field(u32::MAX);
    let mut paths = graph.field(0.0);
    level[root] = 0;
    paths[root] = 1.0;
    let mut now = 0;
    loop {
        let mut found = false;
        for v in graph.vertices() {
            if level[v] == now {
                for e in graph.out_edges(v) {
                    if level[e.target] == u32::MAX {
                        level[e.target] = now + 1;
                        found = true;
                    }
                }
            }
        }
        if !found {
            break;
        }
        for v in graph.vertices() {
            if level[v] == now {
                for e in graph.out_edges(v) {
                    if level[e.target] == now + 1 {
                        paths[e.target] += paths[v];
                    }
                }
            }
        }
        now += 1;
    }
    let mut score = graph.field(0.0);
    while now > 0 {
        now -= 1;
        for v in graph.vertices() {
            if level[v] == now {
                let mut sum = 0.0;
                for e in graph.out_edges(v) {
                    if level[e.target] == now + 1 {
                        sum += (1.0 + score[e.target]) / paths[e.target];
                    }
                }
                score[v] = paths[v] * sum;
            }
        }
    }
    score
}

#[program(crate = parton_program)]
pub(crate) fn hubs(graph: &Graph<f32>, rounds: u32) -> (Field<f64>, Field<f64>) {
    let mut hub = graph.field(1.0);
    let mut authority = graph.field(1.0);
    for _ in 0..rounds {
        let mut norm = 0.0;
        for v in graph.vertices() {
            let mut sum = 0.0;
            for e in graph.in_edges(v) {
                sum += hub[e.source] * f64::from(e.weight);
            }
            authority[v] = sum;
            norm += sum * sum;
        }
        for v in graph.vertices() {
            authority[v] /= norm.sqrt().max(1e-300);
        }
        let mut other = 0.0;
        for v in graph.vertices() {
            let mut sum = 0.0;
            for e in graph.out_edges(v) {
                sum += authority[e.target] * f64::from(e.weight);
            }
            hub[v] = sum;
            other += sum * sum;
        }
        for v in graph.vertices() {
            hub[v] /= other.sqrt().max(1e-300);
        }
    }
    (hub, authority)
}

/// Something nobody had in mind: influence decays over some rounds, weighted degrees are normalised.
#[program(crate = parton_program)]
pub(crate) fn influence(graph: &Graph<u32>, seed: Vertex, rounds: u32) -> (Field<f64>, Field<u32>) {
    let mut heard = graph.field_with(|v| if v == seed { 1.0 } else { 0.0 });
    let mut next = graph.field(0.0);
    let mut weight = graph.field(0u64);
    let mut heaviest = graph.field(0u32);
    for v in graph.vertices() {
        for e in graph.out_edges(v) {
            weight[v] += e.weight as u64;
            heaviest[e.target] = heaviest[e.target].max(e.weight);
        }
    }
    for round in 0..rounds {
        for v in graph.vertices() {
            next[v] = heard[v] / (round + 2) as f64;
        }
        for v in graph.vertices() {
            if weight[v] == 0 {
                continue;
            }
            let share = heard[v] / weight[v] as f64;
            for e in graph.out_edges(v) {
                next[e.target] += share * e.weight as f64;
            }
        }
        std::mem::swap(&mut heard, &mut next);
    }
    (heard, heaviest)
}

/// Pull until nothing changes, and a second worklist.
#[program(crate = parton_program)]
pub(crate) fn widest(graph: &Graph<u32>, root: Vertex) -> (Field<u32>, Field<bool>) {
    let mut width = graph.field(0u32);
    width[root] = u32::MAX;
    let mut changed = true;
    while changed {
        changed = false;
        for v in graph.vertices() {
            for e in graph.in_edges(v) {
                changed |= width.raise(v, width[e.source].min(e.weight));
            }
        }
    }
    let mut narrow = Worklist::new();
    for v in graph.vertices() {
        if width[v] > 0 && width[v] < 5 {
            narrow.push(v);
        }
    }
    let mut beside = graph.field(false);
    while let Some(v) = narrow.pop() {
        for e in graph.out_edges(v) {
            beside[e.target] |= true;
        }
    }
    (width, beside)
}

/// Sums that may outgrow their type.
#[program(crate = parton_program)]
pub(crate) fn far(graph: &Graph<u32>, root: Vertex) -> Field<u32> {
    let mut distance = graph.field(u32::MAX);
    distance[root] = 0;
    let mut work = Worklist::from([root]);
    while let Some(v) = work.pop() {
        for e in graph.out_edges(v) {
            if distance.lower(e.target, distance[v] + e.weight) {
                work.push(e.target);
            }
        }
    }
    distance
}

/// Weights may be less than 0: then it runs operator by operator.
#[program(crate = parton_program)]
pub(crate) fn near(graph: &Graph<f32>, root: Vertex) -> Field<f32> {
    let mut distance = graph.field(f32::INFINITY);
    distance[root] = 0.0;
    let mut work = Worklist::from([root]);
    while let Some(v) = work.pop() {
        for e in graph.out_edges(v) {
            if distance.lower(e.target, distance[v] + e.weight) {
                work.push(e.target);
            }
        }
    }
    distance
}
