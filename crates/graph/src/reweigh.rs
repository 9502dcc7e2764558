//! Replacing a graph's weights by what the user asks for.

use crate::generate::edge_weight;
use crate::id_map::OriginalId;
use crate::{Adjacency, Graph, LocalId, with_csr};

/// Where weights come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weights {
    /// From the file, if it has any.
    #[default]
    File,
    /// No weights: the graph becomes unweighted.
    None,
    /// Every edge weighs 1.
    Unit,
    /// Random integers, the same for both directions of an edge.
    Random {
        /// Least weight.
        low: u32,
        /// Greatest weight.
        high: u32,
        /// Another seed, other weights.
        seed: u64,
    },
}

impl Weights {
    /// Understands `file`, `none`, `unit` and `random:LO..HI[,SEED]`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let expected =
            || format!("expected file, none, unit or random:LO..HI[,SEED], found '{text}'");
        match text {
            "file" => return Ok(Weights::File),
            "none" => return Ok(Weights::None),
            "unit" => return Ok(Weights::Unit),
            _ => {}
        }
        let range = text.strip_prefix("random:").ok_or_else(expected)?;
        let (range, seed) = match range.split_once(',') {
            None => (range, 1),
            Some((range, seed)) => (range, seed.parse().map_err(|_| expected())?),
        };
        let (low, high) = range.split_once("..").ok_or_else(expected)?;
        let (low, high) =
            (low.parse().map_err(|_| expected())?, high.parse().map_err(|_| expected())?);
        if low > high {
            return Err(format!("expected weights from low to high, found {low}..{high}"));
        }
        Ok(Weights::Random { low, high, seed })
    }
}

impl Graph {
    /// The graph with its weights replaced.
    pub fn reweighed(mut self, weights: &Weights) -> Self {
        let ids = &self.ids;
        // Integers weigh by what the user calls the vertices, so that the weights do not depend on
        // which other vertices a file has; names have only their place.
        let id = |v: LocalId| match ids.get(v.index()) {
            OriginalId::Integer(id) => id,
            OriginalId::Name(_) => u64::from(v.0),
        };
        self.adjacency = match *weights {
            Weights::File => self.adjacency,
            Weights::None => self.adjacency.unweighted(),
            Weights::Unit => {
                with_csr!(self.adjacency, csr => Adjacency::U32(csr.reweighted(|_, _, _| 1)))
            }
            Weights::Random { low, high, seed } => {
                let weigh = |s, d| edge_weight(u64::from(low), u64::from(high), seed, id(s), id(d));
                with_csr!(self.adjacency, csr => Adjacency::U32(csr.reweighted(|s, d, _| weigh(s, d))))
            }
        };
        self
    }

    /// The graph with every edge turned around.
    pub fn transposed(mut self) -> Self {
        self.adjacency = with_csr!(self.adjacency, csr => csr.transposed().into());
        self.read_as += "; transposed";
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Csr;

    #[test]
    fn weights_are_parsed_or_refused() {
        assert_eq!(
            Weights::parse("random:1..64"),
            Ok(Weights::Random { low: 1, high: 64, seed: 1 })
        );
        assert_eq!(
            Weights::parse("random:0..0,9"),
            Ok(Weights::Random { low: 0, high: 0, seed: 9 })
        );
        for bad in
            ["", "random", "random:5", "random:9..1", "random:1..2,x", "random:-1..2", "units"]
        {
            assert!(Weights::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn both_directions_weigh_the_same() {
        let ring: Vec<_> =
            (0..50).flat_map(|v| [(v, (v + 1) % 50, ()), ((v + 1) % 50, v, ())]).collect();
        let graph = Graph::dense(Csr::from_edges(50, &ring), "").reweighed(&Weights::Random {
            low: 3,
            high: 9,
            seed: 4,
        });
        let Adjacency::U32(csr) = &graph.adjacency else { panic!("integers") };
        assert!(csr.all_weights().iter().all(|w| (3..=9).contains(w)));
        assert_eq!(csr.all_weights().iter().collect::<std::collections::HashSet<_>>().len(), 7);
        for v in csr.vertices() {
            for (target, weight) in csr.edges(v) {
                assert!(csr.edges(target).any(|back| back == (v, weight)));
            }
        }
    }
}
