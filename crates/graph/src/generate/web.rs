//! `web`: pages and links like those of a crawl: strong locality, popular home pages, and a large
//! diameter, which R-MAT has not.
//!
//! Ids are in the order of addresses, so a *site* is a range of ids. Sites are found by cutting
//! ranges of 8√N pages in two at a random place, again and again; each range stays whole with a
//! chance of 1/8. Sizes so follow a power law, and finding the site of a page takes a few cuts and
//! no table.
//!
//! Inside a site, pages form a tree: page `p` hangs below page `p / 8`, page 0 is the home page.
//! One in four of the pages without children is a *document* (a picture, a text) without links
//! of its own: its links are made by one of the popular pages of its site. So hubs have many links,
//! and a fifth of all pages none.
//!
//! Each page brings `EDGE_FACTOR` links:
//! - the first leads to the next page; after the last page of a site, to the next home page;
//! - the second leads home; from a home page, to the home page of the site before;
//! - of the others, 3/8 lead to a page of the same site, likely a close one, or to the page above
//!   it; 3/8 to a popular page of the same site, the home page being the most popular; 2/8 to the
//!   home page or a popular page of another site, likely a close one.
//!
//! No link leads to a site further than 8√N pages away. A search so needs about √N / 8 rounds to
//! cross the graph, forward or backward: 137 for a million pages, about 4000 for a thousand
//! million, the order of what is seen in crawls of these sizes. With two or more links per page,
//! every page can be reached from every page that is not a document.
//!
//! `chains=LENGTH` adds what gives crawls their last levels: archives in pages, calendars, lists of
//! which each page leads to the one before and the one after and to little else. Every range of
//! 8√N pages then ends in a chain, which takes up to LENGTH of its pages, and no more than half.
//! All orders of length are equally likely: with 500, chains hold about 3 pages in 100, and the
//! longest decide how deep the graph is, with and without directions. (The Gluon-Async paper puts
//! large crawls at diameters of 498 to 5274, where the smaller ones have about 100.) Nobody links
//! into a chain but the home page of the site it belongs to, to its first page; what links pages of
//! a chain bring beside their two are made by popular pages of that site.

use std::fmt;
use std::ops::Range;

use crate::build::EdgeBatch;
use crate::{Direction, Result};

use super::arguments::{Arguments, DEFAULT_EDGE_FACTOR, DEFAULT_SEED};
use super::random::{Draws, Purpose, Random, scaled};
use super::{Generator, GeneratorKind};

pub(super) const KIND: GeneratorKind = GeneratorKind {
    name: "web",
    syntax: "web:N[,EDGE_FACTOR[,SEED]][,chains=LENGTH]",
    help: "N pages of a web: sites with popular home pages, local links, a diameter like √N; \
           with chains, as long as those",
    parse,
};

/// How far a link may lead, and how large a site may be, in units of √N.
const SPAN: u64 = 8;

/// Children of a page in the tree of its site.
const CHILDREN: u64 = 8;

/// Ranges with fewer pages are one site: in smaller ones most links would be loops.
const SMALL_SITE: u64 = 32;

/// More cuts than it can take to reach a small site.
const MAX_CUTS: u64 = 128;

struct Web {
    pages: u64,
    links_per_page: u64,
    seed: u64,
    num_edges: u64,
    span: u64,
    longest_chain: u64,
    sites: Random,
    chains: Random,
    documents: Random,
    links: Random,
}

/// A range of pages; the first is the home page. What follows them may be a chain.
struct Site {
    home: u64,
    size: u64,
    chain: u64,
}

fn parse(arguments: &mut Arguments<'_>) -> Result<Box<dyn Generator>> {
    let chains = arguments.take_last(|word| word.strip_prefix("chains="));
    let longest_chain = chains.map(|length| arguments.parse_number("LENGTH", length));
    let pages = arguments.number("N")?;
    let links_per_page = arguments.number_or("EDGE_FACTOR", DEFAULT_EDGE_FACTOR)?;
    let seed = arguments.number_or("SEED", DEFAULT_SEED)?;
    let num_edges = arguments.count("edges", u128::from(pages) * u128::from(links_per_page))?;
    Ok(Box::new(Web {
        pages,
        links_per_page,
        seed,
        num_edges,
        span: (SPAN * pages.isqrt()).max(1),
        longest_chain: longest_chain.transpose()?.unwrap_or(0),
        sites: Random::new(seed, Purpose::Sites),
        chains: Random::new(seed, Purpose::Chains),
        documents: Random::new(seed, Purpose::Documents),
        links: Random::new(seed, Purpose::Edges),
    }))
}

impl Site {
    fn contains(&self, page: u64) -> bool {
        page.wrapping_sub(self.home) < self.size + self.chain
    }

    /// Which page of the chain this is, if it is one.
    fn place_in_chain(&self, page: u64) -> Option<u64> {
        page.checked_sub(self.home + self.size)
    }
}

impl Web {
    /// Edge number `index`, whose page is in `site`.
    fn link(&self, index: u64, site: &Site) -> (u64, u64) {
        let (page, link) = (index / self.links_per_page, index % self.links_per_page);
        if let Some(place) = site.place_in_chain(page) {
            return self.chain_link(index, site, place);
        }
        let after = if page + 1 == site.home + site.size { page + site.chain } else { page } + 1;
        let destination = match link {
            0 if after < self.pages => after,
            0 => site.home,
            1 if page == site.home => self.site_of(page.saturating_sub(1)).home,
            1 => site.home,
            _ => self.other_link(page, site, &mut self.links.draws(index)),
        };
        (self.author(page, site), destination)
    }

    /// Edge number `index`, which a page of a chain brings.
    fn chain_link(&self, index: u64, site: &Site, place: u64) -> (u64, u64) {
        let (page, link) = (index / self.links_per_page, index % self.links_per_page);
        match link {
            0 if place + 1 < site.chain => (page, page + 1),
            // Nothing comes after the last page, and some link must lead to the first.
            0 => (site.home, site.home + site.size),
            1 if place > 0 => (page, page - 1),
            1 => (page, site.home),
            _ => {
                let draws = &mut self.links.draws(index);
                let author = site.home + draws.skewed(site.size.div_ceil(CHILDREN));
                (author, self.other_link(author, site, draws))
            }
        }
    }

    /// How many pages at the end of a range are a chain.
    fn chain(&self, first: u64, size: u64) -> u64 {
        match self.longest_chain.min(size / 2) {
            0 => 0,
            longest => 1 + self.chains.draws(first).skewed(longest),
        }
    }

    fn site_of(&self, page: u64) -> Site {
        let mut home = page - page % self.span;
        let mut size = self.span.min(self.pages - home);
        let chain = self.chain(home, size);
        size -= chain;
        let end = home + size;
        // A chain belongs to the last site.
        let page = page.min(end - 1);
        let mut cuts = 0;
        while size >= SMALL_SITE {
            let bits = self.sites.draws(home.wrapping_mul(MAX_CUTS) + cuts).bits();
            // The lowest bits decide whether to cut, the others where.
            if bits.is_multiple_of(8) {
                break;
            }
            let left = size / 4 + scaled(bits, u128::from(size / 2 + 1));
            if page - home < left {
                size = left;
            } else {
                home += left;
                size -= left;
            }
            cuts += 1;
        }
        Site { home, size, chain: if home + size == end { chain } else { 0 } }
    }

    /// The page that carries the links of `page`.
    fn author(&self, page: u64, site: &Site) -> u64 {
        let place = page - site.home;
        let has_children = place.saturating_mul(CHILDREN) < site.size;
        let mut draws = self.documents.draws(page);
        if has_children || draws.below(4) > 0 {
            return page;
        }
        // Pages up to the one above it have children, so are not documents themselves.
        site.home + draws.skewed(place / CHILDREN + 1)
    }

    /// Where a link of `page` leads that has no fixed purpose.
    fn other_link(&self, page: u64, site: &Site, draws: &mut Draws) -> u64 {
        match draws.below(8) {
            0 | 1 => self.other_site(site, draws),
            2..=4 => site.home + draws.skewed(site.size),
            _ if site.size == 1 => self.other_site(site, draws),
            _ => {
                // Once round the site, forward or backward, never back to the page itself.
                let distance = 1 + draws.skewed(site.size - 1);
                let steps = if draws.below(2) == 0 { distance } else { site.size - distance };
                let place = (page - site.home + steps) % site.size;
                site.home + if draws.below(2) == 0 { place } else { place / CHILDREN }
            }
        }
    }

    /// A page of another site close to `site`.
    fn other_site(&self, site: &Site, draws: &mut Draws) -> u64 {
        let distance = 1 + draws.skewed(self.span);
        let after = site.home + site.size + site.chain - 1;
        let forward = match (site.home >= distance, self.pages - 1 - after >= distance) {
            (true, true) => draws.below(2) == 0,
            (_, forward) => forward,
        };
        // In a web smaller than the distance both ends are too close.
        let there = if forward { after + distance } else { site.home.saturating_sub(distance) };
        let target = self.site_of(there);
        match draws.below(2) {
            0 => target.home,
            _ => target.home + draws.skewed(target.size),
        }
    }
}

impl fmt::Display for Web {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "web:{},{},{}", self.pages, self.links_per_page, self.seed)?;
        if self.longest_chain > 0 { write!(f, ",chains={}", self.longest_chain) } else { Ok(()) }
    }
}

impl Generator for Web {
    fn num_vertices(&self) -> u64 {
        self.pages
    }

    fn num_edges(&self) -> u64 {
        self.num_edges
    }

    fn edge(&self, index: u64) -> (u64, u64) {
        self.link(index, &self.site_of(index / self.links_per_page))
    }

    /// Looks for a page's site once, not once per link: most of the work.
    fn edges(&self, indices: Range<u64>, edges: &mut EdgeBatch<u64, ()>) {
        let mut site = Site { home: 0, size: 0, chain: 0 };
        for index in indices {
            let page = index / self.links_per_page;
            if !site.contains(page) {
                site = self.site_of(page);
            }
            let (source, destination) = self.link(index, &site);
            edges.push(source, destination, ());
        }
    }

    fn direction(&self) -> Direction {
        Direction::Directed
    }
}

#[cfg(test)]
mod tests {
    use crate::generate::Spec;
    use crate::progress::Silent;
    use crate::{Adjacency, Csr, LocalId};

    fn web(spec: &str) -> Csr<()> {
        match Spec::parse(spec).unwrap().generate(&Silent).unwrap().adjacency {
            Adjacency::Unweighted(csr) => csr,
            other => panic!("weights in {other:?}"),
        }
    }

    /// How many vertices a search from `root` reaches, and in how many rounds.
    fn search(csr: &Csr<()>, root: u32) -> (usize, u32) {
        let mut level = vec![u32::MAX; csr.num_vertices()];
        level[root as usize] = 0;
        let mut reached = vec![LocalId(root)];
        let mut next = 0;
        while next < reached.len() {
            let v = reached[next];
            next += 1;
            for &w in csr.targets(v) {
                if level[w.index()] == u32::MAX {
                    level[w.index()] = level[v.index()] + 1;
                    reached.push(w);
                }
            }
        }
        (reached.len(), level[reached[next - 1].index()])
    }

    #[test]
    fn the_diameter_grows_with_the_root_of_the_size() {
        let (small, large) = (web("web:10000"), web("web:160000"));
        let (_, near) = search(&small, 0);
        let (_, far) = search(&large, 0);
        assert!(near >= 10 && far >= 45 && far > 2 * near, "{near} and {far} rounds");
        // Neither the other way round nor without directions is there a short cut.
        let (_, backward) = search(&large.transposed(), 0);
        let (_, both) = search(&large.symmetrised(), 0);
        assert!(backward >= 45 && both >= 45, "{backward} and {both} rounds");
    }

    #[test]
    fn chains_decide_how_deep_a_web_is() {
        let csr = web("web:100000,16,1,chains=500");
        for (name, csr) in [("forward", &csr), ("both ways", &csr.symmetrised())] {
            let (reached, rounds) = search(csr, 0);
            assert_eq!(reached, 100_000, "{name}");
            assert!((300..600).contains(&rounds), "{name}: {rounds} rounds");
        }
        let linked = |v| csr.targets(v).iter().all(|w| w.0.abs_diff(v.0) == 1);
        let chained = csr.vertices().filter(|&v| csr.degree(v) == 2 && linked(v)).count();
        assert!((1000..10_000).contains(&chained), "{chained} pages in chains");
    }

    #[test]
    fn all_pages_are_reached_from_every_page_that_links() {
        for csr in ["web:2000,2,5", "web:2000,2,5,chains=100"].map(web) {
            for root in csr.vertices() {
                let all = if csr.degree(root) == 0 { 1 } else { 2000 };
                assert_eq!(search(&csr, root.0).0, all, "from {root}");
            }
        }
    }

    #[test]
    fn degrees_are_skewed() {
        let csr = web("web:100000");
        let sorted_degrees = |csr: &Csr<()>| {
            let mut degrees: Vec<usize> = csr.vertices().map(|v| csr.degree(v)).collect();
            degrees.sort_unstable();
            degrees
        };
        let incoming = sorted_degrees(&csr.transposed());
        let most: usize = incoming[99_000..].iter().sum();
        assert!(most * 100 > 1_600_000 * 15, "one page in 100 has {most} of 1600000 links");
        assert!(incoming[50_000] < 16 / 2 + 1, "the median is {}", incoming[50_000]);
        assert!(incoming[99_999] > 16 * 100, "the most popular page has {}", incoming[99_999]);
        let outgoing = sorted_degrees(&csr);
        assert!(outgoing[99_999] > 16 * 20, "the largest hub has {}", outgoing[99_999]);
        let documents = outgoing.iter().filter(|&&d| d == 0).count();
        assert!((15_000..25_000).contains(&documents), "{documents} documents");
    }

    #[test]
    fn links_are_local() {
        let csr = web("web:100000");
        let mut close = 0;
        for v in csr.vertices() {
            for w in csr.targets(v) {
                close += usize::from(w.0.abs_diff(v.0) < 100);
                // Out of a site, over at most 8 roots, into another.
                assert!(w.0.abs_diff(v.0) < 3 * 8 * 317);
            }
        }
        assert!(close > 800_000, "{close} of 1600000 links are to close pages");
    }

    #[test]
    fn tiny_webs_stay_inside() {
        for pages in 1..100 {
            for chains in ["", ",chains=1", ",chains=20"] {
                let csr = web(&format!("web:{pages},20,{pages}{chains}"));
                assert_eq!((csr.num_vertices() as u64, csr.num_edges()), (pages, 20 * pages));
                assert_eq!(csr.check(), Ok(()));
            }
        }
        assert_eq!(web("web:0").num_edges(), 0);
        assert_eq!(web("web:9,0").num_edges(), 0);
    }
}
