//! The texts that a guard looks at: each part as it is, and the forms in which it may hide.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use super::decoded::decoded;
use super::forms;
use super::mapped::{Mapped, as_it_is, text_of, units_of};
use super::patterns::Patterns;

/// A text to be looked at.
#[derive(Debug, PartialEq, Eq)]
pub struct Look {
    /// What was done to it, in words of the guard's file; empty: nothing.
    pub view: String,
    /// Which part it is of; as many as there are: of several.
    pub part: usize,
    pub text: String,
    /// Of each UTF-16 unit of `text` where what it is made of begins, and ends, in its part; of several
    /// parts, one behind the other. Empty: they are its own places.
    pub starts: Vec<u32>,
    pub ends: Vec<u32>,
}

/// What a pattern has found, in UTF-16 units of a look.
#[derive(Debug, PartialEq, Eq)]
pub struct Place {
    pub pattern: usize,
    pub look: usize,
    pub start: u32,
    pub end: u32,
}

/// Which forms of the parts are looked at.
#[derive(Default)]
pub struct Views {
    /// Without what is not seen, in NFKC, in Latin letters.
    pub forms: bool,
    /// What is written in base64, and once more in that; in tags, in variation selectors.
    pub decoded: bool,
    /// All parts as one text.
    pub joined: bool,
    /// Texts beside the parts themselves.
    pub most: usize,
}

pub struct Options {
    /// Places that are told.
    pub most_places: usize,
    pub timeout: Option<Duration>,
}

/// Why not all was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    Nothing,
    Places,
    Time,
}

/// How often what was decoded is decoded again.
const NESTED: usize = 1;

/// The parts, and what they may hide; whether that is all of it.
pub fn looks_of(parts: Vec<String>, views: &Views) -> (Vec<Look>, bool) {
    let mut looks = Looks {
        views,
        looks: Vec::new(),
        left: views.most,
        is_all: true,
    };
    let count = parts.len();
    let joined = if views.joined {
        joined(&parts)
    } else {
        Vec::new()
    };
    let borders = borders(&parts);
    for (part, text) in parts.into_iter().enumerate() {
        let mapped = looks.views.any().then(|| as_it_is(&text));
        let (starts, ends) = (Vec::new(), Vec::new());
        looks.looks.push(Look {
            view: String::new(),
            part,
            text,
            starts,
            ends,
        });
        if let Some(mapped) = mapped {
            looks.hidden_in(&mapped, part, "", NESTED, &|_| true);
        }
    }
    for text in joined {
        looks.add("joined", count, &text);
        // What lies in one part has been found there.
        looks.hidden_in(&text, count, "joined", NESTED, &|(start, end)| {
            borders
                .iter()
                .any(|border| start < *border && *border < end)
        });
    }
    (looks.looks, looks.is_all)
}

impl Views {
    fn any(&self) -> bool {
        self.forms || self.decoded
    }
}

struct Looks<'a> {
    views: &'a Views,
    looks: Vec<Look>,
    left: usize,
    is_all: bool,
}

impl Looks<'_> {
    /// Forms of a text, and what is decoded of it.
    ///
    /// `is_new`: of what lies from where to where, whether it has not been found before.
    fn hidden_in(
        &mut self,
        text: &[Mapped],
        part: usize,
        view: &str,
        nested: usize,
        is_new: &dyn Fn((u32, u32)) -> bool,
    ) {
        let mut forms: Vec<Vec<Mapped>> = Vec::new();
        if self.views.forms {
            for (name, form) in FORMS {
                if let Some(changed) = form(forms.last().map_or(text, |last| last)) {
                    self.add(&within(view, name), part, &changed);
                    forms.push(changed);
                }
            }
        }
        if !self.views.decoded {
            return;
        }
        let mut known: HashSet<String> = HashSet::new();
        for form in [Some(text), forms.last().map(Vec::as_slice)]
            .into_iter()
            .flatten()
        {
            for hidden in decoded(form) {
                let extent = (hidden[0].1, hidden[hidden.len() - 1].2);
                if !is_new(extent) || !known.insert(text_of(&hidden)) {
                    continue;
                }
                let name = within(view, "decoded");
                if !self.add(&name, part, &hidden) {
                    return;
                }
                if nested > 0 {
                    self.hidden_in(&hidden, part, &name, nested - 1, &|_| true);
                }
            }
        }
    }

    /// Unless there are too many.
    fn add(&mut self, view: &str, part: usize, mapped: &[Mapped]) -> bool {
        if self.left == 0 {
            self.is_all = false;
            return false;
        }
        self.left -= 1;
        let (starts, ends) = units_of(mapped);
        let (view, text) = (view.to_owned(), text_of(mapped));
        self.looks.push(Look {
            view,
            part,
            text,
            starts,
            ends,
        });
        true
    }
}

type Form = fn(&[Mapped]) -> Option<Vec<Mapped>>;

/// Each of what the one before gave.
const FORMS: [(&str, Form); 3] = [
    ("visible", forms::visible),
    ("compatible", forms::compatible),
    ("latin", forms::latin),
];

fn within(view: &str, name: &str) -> String {
    if view.is_empty() {
        name.to_owned()
    } else {
        format!("{view} {name}")
    }
}

/// Where one part ends and another begins, in UTF-16 units of all.
fn borders(parts: &[String]) -> Vec<u32> {
    let mut unit = 0;
    let ends = parts.iter().map(|part| {
        unit += part.encode_utf16().count() as u32;
        unit
    });
    ends.collect()
}

/// All parts one behind the other and, where that joins words, with spaces between them.
fn joined(parts: &[String]) -> Vec<Vec<Mapped>> {
    if parts.iter().filter(|part| !part.is_empty()).count() < 2 {
        return Vec::new();
    }
    let plain = as_it_is(&parts.concat());
    let mut spaced = Vec::with_capacity(plain.len() + parts.len());
    let mut rest = &plain[..];
    for part in parts {
        let (own, others) = rest.split_at(part.chars().count());
        let touches = |one: Option<&Mapped>| one.is_some_and(|one| !one.0.is_whitespace());
        if touches(spaced.last()) && touches(own.first()) {
            spaced.push((' ', own[0].1, own[0].1));
        }
        spaced.extend_from_slice(own);
        rest = others;
    }
    if spaced.len() == plain.len() {
        vec![plain]
    } else {
        vec![plain, spaced]
    }
}

/// Of all patterns in all looks.
pub fn places_in(patterns: &Patterns, looks: &[Look], options: &Options) -> (Vec<Place>, Left) {
    let begun = Instant::now();
    let is_late = || options.timeout.is_some_and(|most| begun.elapsed() > most);
    let mut places = Vec::new();
    let mut left = Left::Nothing;
    for (look, Look { text, .. }) in looks.iter().enumerate() {
        let mut units = Units::new(text);
        let mut last = usize::MAX;
        patterns.find(text, |pattern, range| {
            if pattern != last {
                units = Units::new(text);
                last = pattern;
            }
            if places.len() >= options.most_places {
                left = Left::Places;
            } else if places.len() % 64 == 63 && is_late() {
                left = Left::Time;
            } else {
                let [start, end] = [range.start, range.end].map(|byte| units.at(byte));
                places.push(Place {
                    pattern,
                    look,
                    start,
                    end,
                });
            }
            left == Left::Nothing
        });
        if left == Left::Nothing && is_late() {
            left = Left::Time;
        }
        if left != Left::Nothing {
            break;
        }
    }
    (places, left)
}

/// From bytes of a text to UTF-16 units, asked in the order of the text.
struct Units<'a> {
    text: &'a str,
    byte: usize,
    unit: u32,
}

impl<'a> Units<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            byte: 0,
            unit: 0,
        }
    }

    fn at(&mut self, byte: usize) -> u32 {
        let passed = &self.text[self.byte..byte];
        self.unit += passed
            .chars()
            .map(|one| one.len_utf16() as u32)
            .sum::<u32>();
        self.byte = byte;
        self.unit
    }
}
