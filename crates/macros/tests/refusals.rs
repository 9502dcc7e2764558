//! Programs that are refused, as their authors see it: every message of the compiler, at its place.

#[test]
fn refusals_say_where_why_and_what_to_write_instead() {
    trybuild::TestCases::new().compile_fail("tests/refused/*.rs");
}
