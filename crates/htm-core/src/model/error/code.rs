//! The type of the error codes.

use crate::model::fault::Fault;

/// The code of an error. Programs tell errors apart by its name, which never changes.
#[derive(Debug, PartialEq, Eq)]
pub struct Code {
    /// The name, such as `key_taken`.
    pub name: &'static str,
    /// The fault: the party that has to act.
    pub fault: Fault,
    /// The meaning, in one sentence.
    pub meaning: &'static str,
    /// The next step, unless the error has a more specific hint.
    pub hint: &'static str,
}

/// Declares codes: a constant for each, and `ALL` of them. A row is `CONSTANT "name" Fault "meaning" => "hint";`.
/// [`Code`] and [`Fault`] must be in scope.
#[macro_export]
macro_rules! error_codes {
    ($($constant:ident $name:literal $fault:ident $meaning:literal => $hint:literal;)*) => {
        $(
            #[doc = $meaning]
            pub const $constant: &Code =
                &Code { name: $name, fault: Fault::$fault, meaning: $meaning, hint: $hint };
        )*

        /// All codes.
        pub const ALL: &[&Code] = &[$($constant),*];
    };
}
