//! What a guard looks at and for: the forms in which a text may hide (`views`), and in each of them
//! patterns, in time that is linear in the text.

pub mod bridge;
mod cards;
mod decoded;
mod emails;
mod escapes;
mod forms;
mod ibans;
mod ips;
mod kinds;
mod looks;
mod mapped;
mod patterns;
mod phones;
mod search;
mod urls;

pub use escapes::MOST as MOST_UNESCAPED;
pub use looks::{Look, Views, looks_of};
pub use patterns::{Patterns, Source};
pub use search::{Deadline, Options, Place, places_in};

#[cfg(test)]
#[path = "../tests/unit/guard.rs"]
mod tests;
