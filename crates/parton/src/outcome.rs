//! What a run of a program found, and questions about all of its values.

use std::cmp::Ordering;

use crate::engine::RunReport;
use crate::graph::{Ids, OriginalId};

/// What a program found.
#[derive(Clone, Debug)]
pub struct Outcome<V> {
    /// The original id of each vertex, ascending.
    pub ids: Ids,
    /// The final state or label of each vertex, in the order of `ids`.
    pub values: Vec<V>,
    /// The engine that ran.
    pub engine: &'static str,
    /// The policy that cut the graph.
    pub policy: String,
    /// Rounds, work, time and bytes.
    pub report: RunReport,
}

impl<V: Copy> Outcome<V> {
    /// The value of the vertex with this original id: a number, or a name.
    pub fn get(&self, id: &str) -> Option<V> {
        Some(self.values[self.ids.find_text(id)?])
    }

    /// Original ids with values.
    pub fn iter(&self) -> impl Iterator<Item = (OriginalId<'_>, V)> {
        self.values.iter().enumerate().map(|(vertex, value)| (self.ids.get(vertex), *value))
    }

    /// The vertices with the greatest values, the greatest first; of equal ones that with the least id.
    ///
    /// ```
    /// # use parton::prelude::*;
    /// # struct Least;
    /// # impl Relaxation for Least {
    /// #     type Label = u32;
    /// #     type Reduction = Min<u32>;
    /// #     type Weight = ();
    /// #     fn start(&self, vertex: Vertex<'_>) -> Option<u32> { Some(vertex.id().0 as u32) }
    /// #     fn relax(&self, label: u32, (): ()) -> u32 { label + 10 }
    /// # }
    /// let outcome = parton::relax(Least, "path:4", 2)?;
    /// assert_eq!(outcome.values, [0, 1, 2, 3]);
    /// let top = outcome.top(2, u32::cmp);
    /// assert_eq!(top.iter().map(|(id, value)| (id.to_string(), *value)).collect::<Vec<_>>(),
    ///     [("3".into(), 3), ("2".into(), 2)]);
    /// assert_eq!(outcome.reduce(u64::from, |a, b| a + b), Some(6));
    /// # Ok::<(), parton::Error>(())
    /// ```
    pub fn top(
        &self,
        count: usize,
        compare: impl Fn(&V, &V) -> Ordering,
    ) -> Vec<(OriginalId<'_>, V)> {
        let mut vertices: Vec<usize> = (0..self.values.len()).collect();
        let order =
            |a: &usize, b: &usize| compare(&self.values[*b], &self.values[*a]).then(a.cmp(b));
        if count < vertices.len() {
            vertices.select_nth_unstable_by(count, order);
            vertices.truncate(count);
        }
        vertices.sort_unstable_by(order);
        vertices.into_iter().map(|vertex| (self.ids.get(vertex), self.values[vertex])).collect()
    }

    /// One value made of all: `combine` joins what `map` makes of each, in the order of ids, so that sums are
    /// the same in every run. `None` if there are no vertices.
    pub fn reduce<T>(&self, map: impl Fn(V) -> T, combine: impl FnMut(T, T) -> T) -> Option<T> {
        self.values.iter().map(|value| map(*value)).reduce(combine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(values: &[f64]) -> Outcome<f64> {
        let ids = Ids::from_sorted((0..values.len() as u64).map(|vertex| 10 * vertex).collect());
        let (policy, report) = (String::new(), RunReport::default());
        Outcome { ids, values: values.to_vec(), engine: "", policy, report }
    }

    #[test]
    fn the_greatest_come_first() {
        let found = outcome(&[0.5, 2.0, -1.0, 2.0, 0.25, 7.0]);
        let top = |count| {
            let top = found.top(count, f64::total_cmp);
            top.into_iter().map(|(id, value)| (id.to_string(), value)).collect::<Vec<_>>()
        };
        assert_eq!(top(0), []);
        assert_eq!(top(2), [("50".to_string(), 7.0), ("10".to_string(), 2.0)]);
        assert_eq!(top(4).last(), Some(&("0".to_string(), 0.5)));
        assert_eq!(top(6), top(100));
        assert_eq!(top(6).last(), Some(&("20".to_string(), -1.0)));
    }

    #[test]
    fn all_values_become_one() {
        assert_eq!(outcome(&[1.0, 2.0, 4.0]).reduce(|x| 2.0 * x, |a, b| a + b), Some(14.0));
        assert_eq!(outcome(&[1.0, 5.0, 4.0]).reduce(|x| x, f64::max), Some(5.0));
        assert_eq!(outcome(&[]).reduce(|x| x, f64::max), None);
    }
}
