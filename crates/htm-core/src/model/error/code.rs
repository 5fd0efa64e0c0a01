//! What a code says.

use crate::model::fault::Fault;

/// One thing that can go wrong. Programs tell errors apart by its name, which never changes.
#[derive(Debug, PartialEq, Eq)]
pub struct Code {
    /// As `key_taken`.
    pub name: &'static str,
    /// Who has to act.
    pub fault: Fault,
    /// What it means, in a sentence.
    pub meaning: &'static str,
    /// What to do next, when the error says nothing better.
    pub hint: &'static str,
}

/// Declares codes: a constant each, and `ALL` of them. A row is `CONSTANT "name" Fault "meaning" => "hint";`. [`Code`] and
/// [`Fault`] have to be in scope.
#[macro_export]
macro_rules! error_codes {
    ($($constant:ident $name:literal $fault:ident $meaning:literal => $hint:literal;)*) => {
        $(
            #[doc = $meaning]
            pub const $constant: &Code =
                &Code { name: $name, fault: Fault::$fault, meaning: $meaning, hint: $hint };
        )*

        /// All of them.
        pub const ALL: &[&Code] = &[$($constant),*];
    };
}
