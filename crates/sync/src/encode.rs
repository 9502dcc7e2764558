//! Wire encodings.
