//! Matrix completion: what users would say of items they have not rated.
//!
//! Edges lead from users to items, and their weights are ratings. Every vertex learns a vector of factors, and the
//! product of two vectors predicts a rating. The program minimises the sum over all ratings of `(rating - p·q)² +
//! regularization · (|p|² + |q|²)` by stochastic gradient descent. In every round every rating is predicted, and both
//! its vectors take a step towards it. A round takes time proportional to ratings times factors.

mod errors;
mod model;

use std::sync::Arc;

use parton_engine::EngineInfo;
use parton_engine::engines::blocks::{self, BlockEngine, VisitOrder};
use parton_engine::sides::{Side, Sides};
use parton_engine::{Limits, run};
use parton_graph::{Adjacency, GlobalId, Graph, LocalId, Weight, WeightKind, with_csr};
use parton_sync::Substrate;

use crate::algorithm::{Algorithm, Job};
use crate::answer::{Answer, Column, Fact, Id, Meanings, Values};
use crate::error::{Error, Result};
use crate::memory_use::MemoryUse;
use crate::needs::{EdgeNeed, Needs, WeightNeed};
use crate::options::{OptionSet, Options};
use errors::{Errors, Factors};
use model::{Model, Ratings, Start};

/// Matrix completion.
pub struct MatrixCompletion;

crate::options! {
    /// What one can ask of matrix completion.
    pub struct MatrixCompletionOptions {
        /// Factors of every user and item.
        width: usize = 20;
        /// How far factors go at a time.
        learning_rate: Option<f64> = None, value_name = "STEP",
            unset = "0.01, less where ratings differ by much";
        /// What large factors cost.
        regularization: f64 = 0.1, value_name = "COST";
        /// What is random follows from this.
        seed: u64 = 1;
        /// Ratings to predict in the end, in a file that is read as the graph is.
        // Every host has them all.
        test: Option<Arc<Graph>> = None;
    }
}

/// Rounds, unless the user says otherwise.
const DEFAULT_ROUNDS: u64 = 40;
/// Factors at most: more is a slip of the finger.
const MAX_FACTORS: usize = 1 << 16;
/// What the recomputed error may differ by, relative to it: sums are rounded.
const MAX_RELATIVE_ERROR: f64 = 1e-9;

impl Algorithm for MatrixCompletion {
    fn name(&self) -> &'static str {
        "matrix-completion"
    }

    fn about(&self) -> &'static str {
        "factors of users and items whose products are the ratings, by stochastic gradient descent"
    }

    fn options(&self) -> Box<dyn OptionSet> {
        Box::new(MatrixCompletionOptions::default())
    }

    fn meanings(&self) -> Meanings {
        &[
            ("users", "vertices that rate"),
            ("items", "vertices that are rated"),
            ("rmse", "how far predictions are from ratings: the root of the mean square"),
            ("test_ratings", "ratings that were predicted and not learned from"),
            ("rmse_test", "how far predictions are from these"),
        ]
    }

    fn engines(&self) -> &'static [&'static EngineInfo] {
        &[&blocks::INFO]
    }

    fn needs(&self, _: &Options) -> Needs {
        Needs { edges: EdgeNeed::Bipartite, weights: WeightNeed::Needed, ..Needs::default() }
    }

    fn memory_use(&self) -> MemoryUse {
        MemoryUse::new(89.3, 10.9, 80.0)
    }

    fn needs_rounds(&self, _: &Options) -> Option<&'static str> {
        Some("what hosts have learnt of a vertex becomes one in every round")
    }

    fn needs_threads(&self, _: &Options) -> Option<&'static str> {
        Some("ratings of one user or item are learnt one after the other")
    }

    fn accepts(&self, options: &Options) -> Result<()> {
        let refuse = |problem: String| Err(Error::Request(problem));
        let MatrixCompletionOptions { width, learning_rate, regularization, test, .. } =
            options.own();
        if !(1..=MAX_FACTORS).contains(&width) {
            return refuse(format!("`width` {width}: expected 1 to {MAX_FACTORS} factors"));
        }
        if let Some(rate) = learning_rate.filter(|rate| !(*rate > 0.0 && rate.is_finite())) {
            return refuse(format!("`learning_rate` {rate}: expected a number above 0"));
        }
        if !(regularization >= 0.0 && regularization.is_finite()) {
            return refuse(format!(
                "`regularization` {regularization}: expected a number of at least 0"
            ));
        }
        match test {
            Some(test) => check_test(&test),
            None => Ok(()),
        }
    }

    fn run(&self, job: &mut Job<'_, '_>) -> Result<Answer> {
        let start = std::time::Instant::now();
        self.accepts(job.options)?;
        job.has_devices(self)?;
        let (engine, why) =
            job.engine(self, &blocks::INFO, || "every rating changes both its ends".into())?;
        let own = job.options.own::<MatrixCompletionOptions>();
        let partition = job.substrate.partition();
        let sides = Sides::find(job.substrate)?;
        let counts = check_sides(job.substrate, &sides)?;
        let ratings = ratings(job.substrate)?;
        let order = VisitOrder::new(partition.num_edges(), own.seed);
        let rounds = job.options.max_rounds.unwrap_or(DEFAULT_ROUNDS);
        let model = Model::new(&own, ratings, rounds);
        let mut blocks = BlockEngine::new(model, partition, &sides, order)?;
        let setup_seconds = start.elapsed().as_secs_f64();
        let limits = Limits { max_rounds: Some(rounds) };
        let report = run(&mut blocks, job.substrate, job.options.pacing, limits, job.watch)?;
        let masters = (0..partition.num_masters() as u32).map(LocalId);
        let elements: Vec<f32> =
            masters.flat_map(|master| blocks.vector(master)).copied().collect();
        drop(blocks);
        let factors = Factors { width: own.width, elements: &elements };
        let judged = judge(job, factors, &sides)?;
        if !judged.training.rmse.is_finite() {
            return Err(Error::Data(format!(
                "factors grew beyond all bounds in round {}: lower `learning_rate` from {}",
                report.rounds.len(),
                ratings.rate(&own)
            )));
        }
        let values = Values::Vectors { width: own.width, elements };
        Ok(Answer {
            columns: vec![Column { name: "factors", values }],
            result: judged.facts(counts),
            engine,
            why,
            setup_seconds,
            report,
            notes: judged.notes(),
        })
    }

    fn check(&self, job: &mut Job<'_, '_>, answer: &Answer) -> Result<Option<String>> {
        let Values::Vectors { width, elements } = &answer.columns[0].values else {
            unreachable!("factors are vectors")
        };
        let infinite = elements.iter().filter(|element| !element.is_finite()).count() as u64;
        let infinite = job.substrate.net().all_reduce(infinite, |a, b| a + b)?;
        if infinite > 0 {
            return Ok(Some(format!("{infinite} factors are not finite numbers")));
        }
        let sides = Sides::find(job.substrate)?;
        let counts = check_sides(job.substrate, &sides)?;
        let judged = judge(job, Factors { width: *width, elements }, &sides)?;
        let expected = judged.facts(counts);
        let said = |wanted: &str| answer.result.iter().find(|(name, _)| *name == wanted);
        let wrong = expected.iter().find(|(name, fact)| match (fact, said(name)) {
            (Fact::Real(found), Some((_, Fact::Real(said)))) => {
                (found - said).abs() > MAX_RELATIVE_ERROR * found.abs()
            }
            (fact, said) => said.map(|(_, said)| said) != Some(fact),
        });
        Ok(wrong.map(|(name, fact)| format!("{name}: these factors give {fact:?}")))
    }

    fn reference(&self, graph: &Graph, options: &Options) -> Result<Vec<Column>> {
        self.accepts(options)?;
        let own = options.own::<MatrixCompletionOptions>();
        let order = VisitOrder::new(graph.num_edges(), own.seed);
        let mut ratings = Vec::new();
        let (mut outs, mut ins) = (vec![0; graph.num_vertices()], vec![0; graph.num_vertices()]);
        with_csr!(&graph.adjacency, csr => {
            for user in csr.vertices() {
                for (item, rating) in csr.edges(user) {
                    let global = |vertex: LocalId| GlobalId(u64::from(vertex.0));
                    let key = order.key(global(user), global(item));
                    ratings.push((key, user.index(), item.index(), rating.to_f64()));
                    outs[user.index()] += 1;
                    ins[item.index()] += 1;
                }
            }
        });
        if let Some(both) = (0..outs.len()).find(|&vertex| outs[vertex] > 0 && ins[vertex] > 0) {
            return Err(not_bipartite(&graph.ids.get(both).into()));
        }
        if ratings.is_empty() {
            return Err(no_ratings());
        }
        ratings.sort_by_key(|(key, ..)| *key);
        let ([sum, sum_of_squares], _) = sums(&graph.adjacency);
        let known = Ratings { count: graph.num_edges(), sum, sum_of_squares };
        let (start, rate) = (Start::new(&own, known), known.rate(&own));
        let mut factors: Vec<Vec<f64>> = (0..graph.num_vertices())
            .map(|vertex| match outs[vertex] + ins[vertex] {
                0 => vec![0.0; own.width],
                _ => start.factors(GlobalId(vertex as u64)).map(f64::from).collect(),
            })
            .collect();
        for _ in 0..options.max_rounds.unwrap_or(DEFAULT_ROUNDS) {
            for &(_, user, item, rating) in &ratings {
                let (p, q) = (factors[user].clone(), factors[item].clone());
                let error = rating - p.iter().zip(&q).map(|(p, q)| p * q).sum::<f64>();
                let step =
                    |mine: f64, other: f64| rate * (error * other - own.regularization * mine);
                for (k, (p, q)) in p.into_iter().zip(q).enumerate() {
                    factors[user][k] += step(p, q);
                    factors[item][k] += step(q, p);
                }
            }
        }
        let elements = factors.iter().flatten().map(|&factor| factor as f32).collect();
        let values = Values::Vectors { width: own.width, elements };
        Ok(vec![Column { name: "factors", values }])
    }
}

/// How good factors are.
struct Evaluation {
    training: Errors,
    test: Option<Errors>,
}

/// Finds out. Every host must call this.
fn judge(job: &mut Job<'_, '_>, factors: Factors<'_>, sides: &Sides) -> Result<Evaluation> {
    let training = errors::of_training(job.substrate, factors)?;
    let test = match job.options.own::<MatrixCompletionOptions>().test {
        Some(test) => Some(errors::of_test(job.substrate, factors, sides, &test)?),
        None => None,
    };
    Ok(Evaluation { training, test })
}

impl Evaluation {
    fn facts(&self, counts: Counts) -> Vec<(&'static str, Fact)> {
        let mut facts = vec![
            ("users", Fact::Integer(counts.users)),
            ("items", Fact::Integer(counts.items)),
            ("rmse", Fact::Real(self.training.rmse)),
        ];
        if let Some(test) = self.test {
            facts.push(("test_ratings", Fact::Integer(test.ratings)));
            if test.ratings > 0 {
                facts.push(("rmse_test", Fact::Real(test.rmse)));
            }
        }
        facts
    }

    fn notes(&self) -> Vec<String> {
        let left_out = self.test.filter(|test| test.cold > 0).map(|test| {
            format!(
                "{} of {} test ratings are left out of rmse_test: their users or items have no \
                 rating to learn from",
                test.cold,
                test.cold + test.ratings
            )
        });
        left_out.into_iter().collect()
    }
}

/// How many users and items there are.
#[derive(Clone, Copy)]
struct Counts {
    users: u64,
    items: u64,
}

/// Checks that users are not items. Every host must call this.
fn check_sides(substrate: &mut Substrate<'_>, sides: &Sides) -> Result<Counts> {
    let partition = substrate.partition();
    let masters = || (0..partition.num_masters() as u32).map(LocalId);
    let count = |side| masters().filter(|&master| sides.of(master) == side).count() as u64;
    let mine = [count(Side::Source), count(Side::Destination)];
    let both = masters().filter(|&master| sides.of(master) == Side::Both);
    let first = both.map(|master| partition.global(master).0).min().unwrap_or(u64::MAX);
    let first = substrate.net().all_reduce(first, u64::min)?;
    if first != u64::MAX {
        return Err(not_bipartite(&original(substrate, first as u32)?));
    }
    let [users, items] = substrate.net().all_reduce(mine, |a, b| [a[0] + b[0], a[1] + b[1]])?;
    if users == 0 {
        return Err(no_ratings());
    }
    Ok(Counts { users, items })
}

/// What users call a vertex. Every host must call this.
fn original(substrate: &mut Substrate<'_>, vertex: u32) -> Result<Id> {
    let partition = substrate.partition();
    let likely = |master| partition.global(master).0 == u64::from(vertex);
    let found = partition.originals_of(substrate.net(), &[vertex], likely);
    Ok(found.map_err(|error| Error::Data(error.to_string()))?.get(0, u64::from(vertex)).into())
}

/// What all ratings are like, which must be numbers. Every host must call this.
fn ratings(substrate: &mut Substrate<'_>) -> Result<Ratings> {
    let partition = substrate.partition();
    let ([sum, sum_of_squares], bad) = sums(partition.out_edges());
    let bad = substrate.net().all_reduce(bad, |a, b| a + b)?;
    if bad > 0 {
        return Err(bad_ratings("the graph", bad));
    }
    let mine = [sum, sum_of_squares];
    let [sum, sum_of_squares] =
        substrate.net().all_reduce(mine, |a, b| [a[0] + b[0], a[1] + b[1]])?;
    Ok(Ratings { count: partition.num_edges(), sum, sum_of_squares })
}

/// All weights together and their squares, and how many of them are no single-precision numbers.
fn sums(adjacency: &Adjacency) -> ([f64; 2], u64) {
    with_csr!(adjacency, csr => {
        let weights = csr.all_weights().iter().map(|weight| weight.to_f64());
        weights.fold(([0.0; 2], 0), |([sum, squares], bad), weight| {
            let bad = bad + u64::from(!(weight as f32).is_finite());
            ([sum + weight, squares + weight * weight], bad)
        })
    })
}

/// Whether these are ratings.
fn check_test(test: &Graph) -> Result<()> {
    if test.num_edges() == 0 {
        return Err(Error::Data("`test`: there are no ratings in it".into()));
    }
    if test.adjacency.weight_kind() == WeightKind::None {
        return Err(Error::Data("`test`: its edges have no weights to be predicted".into()));
    }
    match sums(&test.adjacency).1 {
        0 => Ok(()),
        bad => Err(bad_ratings("`test`", bad)),
    }
}

fn bad_ratings(place: &str, count: u64) -> Error {
    Error::Data(match count {
        1 => format!("{place}: 1 rating is not a finite number"),
        _ => format!("{place}: {count} ratings are not finite numbers"),
    })
}

fn no_ratings() -> Error {
    Error::Data("there are no ratings to learn from: no user and no item has an edge".into())
}

fn not_bipartite(vertex: &Id) -> Error {
    Error::Data(format!(
        "vertex {vertex} is both a user and an item: it has edges both ways; ratings lead from \
         users to items (if both are numbered from 1, `bipartite` tells them apart; an undirected \
         graph has to be read with `directed`)"
    ))
}
