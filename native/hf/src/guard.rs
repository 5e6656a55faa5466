//! What a guard looks at and for: the forms in which a text may hide (`views`), and in each of them
//! patterns, in time that is linear in the text.

pub mod bridge;
mod cards;
mod decoded;
mod forms;
mod ibans;
mod kinds;
mod looks;
mod mapped;
mod patterns;

pub use looks::{Look, Options, Place, Views, looks_of, places_in};
pub use patterns::{Patterns, Source};

#[cfg(test)]
#[path = "../tests/unit/guard.rs"]
mod tests;
