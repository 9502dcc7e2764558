//! Graph algorithms: one program per file, with its serial oracle.
