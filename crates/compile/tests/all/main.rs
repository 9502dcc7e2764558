//! Translated functions agree with their source to the bit, and what cannot be translated is refused
//! where it stands.

mod checks;
mod explained;
mod functions;
mod harness;
mod program_refusals;
mod programs;
mod refusals;
mod shapes;
