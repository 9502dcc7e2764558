//! Row blocks, and the blocks that have checksums.

use super::*;

#[test]
fn row_blocks_are_kept_if_they_are_given() {
    for graph in all_samples().into_iter().chain([several_pieces()]) {
        for (bytes, kept) in [(blocked(&graph), true), (bare(&graph), false)] {
            let blocks = row_file(&bytes).row_blocks().unwrap();
            assert_eq!(blocks.is_some(), kept);
            assert_eq!(has_row_blocks(&Source::memory("x", &bytes[..]).unwrap()), kept);
            if let Some(blocks) = blocks {
                blocks.of_edges(&graph.adjacency).unwrap();
            }
        }
    }
    // Of another graph they are not written.
    let row_blocks = Some(&blocks_of(&several_pieces().adjacency, 2));
    let options = WriteOptions { row_blocks, ..WriteOptions::default() };
    assert!(
        written_as(&Parton, &small(), &options).unwrap_err().to_string().contains("row blocks")
    );
}

/// What `open` and a whole graph do not look at, the first use and `verify` do.
#[test]
fn damage_in_row_blocks_is_an_error() {
    let graph = several_pieces();
    let sound = blocked(&graph);
    verified(&sound).unwrap();
    for kind in [SectionKind::BlockEnds, SectionKind::BlockEntries] {
        let section = section(&sound, kind);
        for share in [0, 50, 99] {
            let mut bytes = sound.clone();
            bytes[(section.at + section.bytes * share / 100) as usize] ^= 1;
            assert_same(&plain(&bytes).unwrap(), &graph);
            let blocks = row_file(&bytes).row_blocks().unwrap().unwrap();
            let message = blocks.of_edges(&graph.adjacency).unwrap_err().to_string();
            assert!(message.contains("x.parton") && message.contains("row blocks: "), "{message}");
            assert!(verified(&bytes).is_err());
        }
    }
}

#[test]
fn slices_of_blocks_together_find_damage_anywhere() {
    let bytes = written(&Parton, &several_pieces(), None).unwrap();
    let problems = |bytes: &[u8], of: usize| -> Vec<Error> {
        let source = Source::memory("x.parton", bytes).unwrap();
        (0..of).filter_map(|index| check_blocks(&source, Slice { index, of }).err()).collect()
    };
    for of in [1, 2, 7] {
        assert!(problems(&bytes, of).is_empty());
        let (mut damaged, section) = (bytes.clone(), section(&bytes, SectionKind::Sources));
        damaged[(section.at + section.bytes - 1) as usize] ^= 1;
        let [problem] = &problems(&damaged, of)[..] else { panic!("one of {of} finds it") };
        assert!(problem.to_string().contains("the block is damaged"));
    }
}
