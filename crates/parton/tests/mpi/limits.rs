//! Where ranks have less memory than they need.

use crate::common::folder;
use crate::{launchers, run_after};

/// Kibibytes of data that each rank may have: MPI itself fits.
const LIMIT: &str = "ulimit -d 120000";

#[test]
fn ranks_that_cannot_fit_are_refused_together() {
    let folder = folder();
    for mpi in launchers::ALL {
        let run = ["run", "pagerank", "rmat:22", "--quiet", "--threads", "1"];
        let refused = run_after(LIMIT, mpi, 3, folder.path(), &run);
        let words = ["with 3 hosts needs about", "for each rank", "ulimit -d", "--force"];
        refused.assert_refused(71, &words);
    }
}

/// Each rank that gets no memory says so. Those that miss it may be ended by their MPI: MPICH's transport aborts them,
/// and the launcher then ends with a code of its own.
#[test]
fn ranks_that_run_out_of_memory_end_with_a_sentence() {
    let folder = folder();
    for mpi in launchers::ALL {
        let run = ["run", "pagerank", "rmat:22", "--quiet", "--threads", "1", "--force"];
        let ended = run_after(LIMIT, mpi, 3, folder.path(), &run);
        let said = ended.said();
        assert!(said.iter().any(|line| line.starts_with("parton: out of memory: ")), "{ended:?}");
        match mpi.name {
            // By whichever signal the transport of MPICH ended a rank.
            "MPICH" => assert!(!ended.status.success(), "{ended:?}"),
            _ => assert_eq!(ended.status.code(), Some(71), "{ended:?}"),
        }
    }
}
