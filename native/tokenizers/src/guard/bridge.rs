//! What C++ sees of what a guard looks at.

use std::time::Duration;

use super::looks::{self, Views};
use super::patterns::{self, Source};
use super::search::{self, Deadline, Left, Options, Place};
use crate::bridge::{Guarded, guard};

#[cxx::bridge(namespace = "tokenizers")]
mod ffi {
    /// A pattern as the guard's file has it.
    pub struct PatternSource {
        /// A kind of data, or a regular expression.
        is_kind: bool,
        text: String,
    }

    /// Which texts are looked at, and how much of them.
    pub struct LookOptions {
        forms: bool,
        decoded: bool,
        joined: bool,
        most_views: usize,
        most_places: usize,
        /// 0: any.
        timeout_ms: f64,
    }

    /// See `looks::Look`.
    pub struct Look {
        view: String,
        part: usize,
        /// UTF-16; empty where the text is that of its part.
        text: Vec<u16>,
        starts: Vec<u32>,
        ends: Vec<u32>,
    }

    pub struct Looked {
        looks: Vec<Look>,
        /// Pattern, look, start and end of each place, in UTF-16 units of the look.
        places: Vec<u32>,
        /// Why not all patterns were looked for: `places` or `time`; empty: they were.
        left: String,
        /// There are more views than may be.
        is_cut: bool,
    }

    extern "Rust" {
        type Patterns;
        /// Fails naming the first bad one by its place: `3: unclosed group`.
        fn compile_patterns(sources: Vec<PatternSource>) -> Result<Box<Patterns>>;
        fn look(self: &Patterns, parts: Vec<String>, options: &LookOptions) -> Result<Looked>;
    }
}

pub use ffi::*;

/// Patterns whose panics are errors. May be asked by any number of threads.
pub struct Patterns(patterns::Patterns);

pub fn compile_patterns(sources: Vec<PatternSource>) -> Guarded<Box<Patterns>> {
    guard(|| {
        let sources = sources
            .iter()
            .map(|PatternSource { is_kind, text }| match is_kind {
                true => Source::Kind(text),
                false => Source::Regex(text),
            });
        Ok(Box::new(Patterns(patterns::Patterns::compile(sources)?)))
    })
}

impl Patterns {
    pub fn look(&self, parts: Vec<String>, options: &LookOptions) -> Guarded<Looked> {
        guard(|| {
            let timeout = options.timeout_ms / 1000.0;
            let deadline = match timeout > 0.0 {
                true => Deadline::after(Duration::from_secs_f64(timeout.min(1e9))),
                false => Deadline::default(),
            };
            let views = Views {
                forms: options.forms,
                decoded: options.decoded,
                joined: options.joined,
                most: options.most_views,
                deadline,
            };
            let options = Options {
                most_places: options.most_places,
                deadline,
            };
            let (looks, is_all) = looks::looks_of(parts, &views);
            let (places, left) = search::places_in(&self.0, &looks, &options);
            let left = match left {
                Left::Nothing => "",
                Left::Places => "places",
                Left::Time => "time",
            };
            let places = places.iter();
            let of = |place: &Place| {
                [
                    place.pattern as u32,
                    place.look as u32,
                    place.start,
                    place.end,
                ]
            };
            Ok(Looked {
                places: places.flat_map(of).collect(),
                looks: looks.into_iter().map(told).collect(),
                left: left.to_owned(),
                is_cut: !is_all,
            })
        })
    }
}

fn told(look: looks::Look) -> Look {
    let text = match look.view.as_str() {
        "" => Vec::new(),
        _ => look.text.encode_utf16().collect(),
    };
    Look {
        view: look.view,
        part: look.part,
        text,
        starts: look.starts,
        ends: look.ends,
    }
}
