//! Vertex programs, the engines that run them, and the loop of rounds.
