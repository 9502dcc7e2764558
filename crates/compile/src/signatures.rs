//! The traits whose functions run on devices, with their signatures in device code.

use crate::ir::{Passing, Type};

/// A trait that `#[device]` knows.
pub struct Trait {
    /// Its name in Rust.
    pub name: &'static str,
    /// Whether its functions see the parameters of a program.
    pub has_program: bool,
    /// Types `Self::Name` that device code knows by that name.
    pub associated: &'static [&'static str],
    /// Its functions that run on devices.
    pub contracts: Vec<Contract>,
}

/// A function of such a trait.
pub struct Contract {
    /// Its name, in Rust and in device code.
    pub name: &'static str,
    /// Types of its parameters after `self`.
    pub parameters: Vec<(Type, Passing)>,
    /// What it returns.
    pub result: Type,
    /// Whether programs need not have it.
    pub is_optional: bool,
}

impl Trait {
    /// The trait of that name.
    pub fn by_name(name: &str) -> Option<Trait> {
        use Passing::{Mutable, Shared, Value};
        let value = |name| (Type::Known(name), Value);
        let shared = |name| (Type::Known(name), Shared);
        let mutable = |name| (Type::Known(name), Mutable);
        let known = Type::Known;
        let option = |name| Type::Option(Box::new(Type::Known(name)));
        let function = |name, parameters: &[(Type, Passing)], result| Contract {
            name,
            parameters: parameters.to_vec(),
            result,
            is_optional: false,
        };
        let optional = |contract| Contract { is_optional: true, ..contract };
        match name {
            "Relaxation" => Some(Trait {
                name: "Relaxation",
                has_program: true,
                associated: &["Label", "Weight"],
                contracts: vec![
                    function("start", &[value("Vertex")], option("Label")),
                    function("relax", &[value("Label"), value("Weight")], known("Label")),
                    optional(function("bucket", &[value("Label")], known("u64"))),
                    optional(function(
                        "passes",
                        &[value("LocalId"), value("LocalId"), value("Weight")],
                        known("bool"),
                    )),
                ],
            }),
            "VertexProgram" => Some(Trait {
                name: "VertexProgram",
                has_program: true,
                associated: &["State", "Message", "Weight"],
                contracts: vec![
                    function("init", &[value("Vertex")], known("State")),
                    function("scatter", &[value("Vertex"), shared("State")], option("Message")),
                    function("along", &[value("Message"), value("Weight")], known("Accumulated")),
                    function(
                        "apply",
                        &[
                            value("Vertex"),
                            mutable("State"),
                            value("Accumulated"),
                            mutable("Tally"),
                        ],
                        known("bool"),
                    ),
                ],
            }),
            "Reduction" => Some(Trait {
                name: "Reduction",
                has_program: false,
                associated: &["Value"],
                contracts: vec![
                    function("identity", &[], known("Value")),
                    function("combine", &[value("Value"), value("Value")], known("Value")),
                ],
            }),
            _ => None,
        }
    }

    /// The function of that name, if it runs on devices.
    pub fn contract(&self, name: &str) -> Option<&Contract> {
        self.contracts.iter().find(|contract| contract.name == name)
    }
}
