//! The texts that a guard looks at: each part as it is, and the forms in which it may hide.

use std::collections::HashSet;

use super::decoded::decoded;
use super::escapes::{self, Unescaped};
use super::forms;
use super::mapped::{Mapped, as_it_is, text_of, units_of};
use super::search::Deadline;

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

/// Which forms of the parts are looked at.
#[derive(Default)]
pub struct Views {
    /// Without what is not seen, in NFKC, in Latin letters.
    pub forms: bool,
    /// What is written in base64, and once more in that; in tags, in variation selectors; in escapes of
    /// HTML, of URLs and of JSON.
    pub decoded: bool,
    /// All parts as one text.
    pub joined: bool,
    /// Texts in addition to the parts themselves, and to the `escapes::MOST` of each text.
    pub most: usize,
    /// No further texts are made then.
    pub deadline: Deadline,
}

/// The view of a text of which one syntax of escapes is undone, once.
const PARTLY: &str = "decoded partly";
/// How often what was decoded is decoded again.
const NESTED: usize = 1;

/// The parts, and what they may hide; whether that is all of it.
pub fn looks_of(parts: Vec<String>, views: &Views) -> (Vec<Look>, bool) {
    let mut looks = Looks {
        views,
        looks: Vec::new(),
        left: views.most,
        is_all: true,
        known: HashSet::new(),
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
            looks.hidden_in(&mapped, Hidden::of(part, ""), &|_| true);
        }
    }
    for text in joined {
        looks.add("joined", count, &text);
        // What lies in one part has been found there.
        looks.hidden_in(&text, Hidden::of(count, "joined"), &|(start, end)| {
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

/// The part and the view of a text that may hide others.
#[derive(Clone, Copy)]
struct Hidden<'a> {
    part: usize,
    view: &'a str,
    /// How often what is decoded of it is decoded again.
    nested: usize,
    /// Escapes have not been undone in it.
    has_escapes: bool,
    /// What is made by undoing escapes does not count: it is as many texts as there are of what was sent.
    is_free: bool,
}

impl<'a> Hidden<'a> {
    /// Of what was sent.
    fn of(part: usize, view: &'a str) -> Self {
        Self {
            part,
            view,
            nested: NESTED,
            has_escapes: true,
            is_free: true,
        }
    }
}

struct Looks<'a> {
    views: &'a Views,
    looks: Vec<Look>,
    left: usize,
    is_all: bool,
    /// Parts, places and texts of what is decoded.
    known: HashSet<(usize, u32, String)>,
}

impl Looks<'_> {
    /// Forms of a text, and what is decoded of it.
    ///
    /// `is_new`: of what lies from where to where, whether it has not been found before.
    fn hidden_in(&mut self, text: &[Mapped], of: Hidden, is_new: &dyn Fn((u32, u32)) -> bool) {
        let Hidden { part, view, .. } = of;
        let forms = if self.views.forms {
            if let Some(spaced) = forms::spaced(text) {
                let name = within(view, "spaced");
                self.add(&name, part, &spaced);
                self.forms_of(&spaced, part, &name);
            }
            self.forms_of(text, part, view)
        } else {
            Vec::new()
        };
        if !self.views.decoded {
            return;
        }
        let name = within(view, "decoded");
        for (form, is_own) in [(Some(text), true), (forms.last().map(Vec::as_slice), false)] {
            let Some(form) = form.filter(|_| !self.is_late()) else {
                continue;
            };
            if of.has_escapes {
                self.escaped_in(
                    form,
                    Hidden {
                        is_free: of.is_free && is_own,
                        ..of
                    },
                );
            }
            for hidden in decoded(form) {
                let extent = (hidden[0].1, hidden[hidden.len() - 1].2);
                if !is_new(extent) || !self.is_unknown(&hidden, part) {
                    continue;
                }
                if !self.add(&name, part, &hidden) {
                    return;
                }
                if of.nested > 0 {
                    let within = Hidden {
                        view: &name,
                        nested: of.nested - 1,
                        is_free: false,
                        ..of
                    };
                    self.hidden_in(
                        &hidden,
                        Hidden {
                            has_escapes: true,
                            ..within
                        },
                        &|_| true,
                    );
                }
            }
        }
    }

    /// Texts whose escapes are undone, and what they hide.
    fn escaped_in(&mut self, text: &[Mapped], of: Hidden) {
        for Unescaped { text, is_whole } in escapes::undone(text) {
            if text.is_empty() || !self.is_unknown(&text, of.part) {
                continue;
            }
            let view = within(of.view, if is_whole { "decoded" } else { PARTLY });
            if of.is_free {
                self.push(&view, of.part, &text);
            } else if !self.add(&view, of.part, &text) {
                return;
            }
            if is_whole {
                let within = Hidden {
                    view: &view,
                    has_escapes: false,
                    ..of
                };
                self.hidden_in(&text, within, &|_| true);
            } else if self.views.forms {
                self.forms_of(&text, of.part, &view);
            }
        }
    }

    /// Each made of the one before.
    fn forms_of(&mut self, text: &[Mapped], part: usize, view: &str) -> Vec<Vec<Mapped>> {
        let mut forms: Vec<Vec<Mapped>> = Vec::new();
        for (name, form) in FORMS {
            if self.is_late() {
                break;
            }
            if let Some(changed) = form(forms.last().map_or(text, |last| last)) {
                self.add(&within(view, name), part, &changed);
                forms.push(changed);
            }
        }
        forms
    }

    /// The same text may be hidden at several places, and at one place in several ways.
    fn is_unknown(&mut self, hidden: &[Mapped], part: usize) -> bool {
        self.known.insert((part, hidden[0].1, text_of(hidden)))
    }

    fn is_late(&self) -> bool {
        self.views.deadline.has_passed()
    }

    /// Unless there are too many.
    fn add(&mut self, view: &str, part: usize, mapped: &[Mapped]) -> bool {
        if self.left == 0 {
            self.is_all = false;
            return false;
        }
        self.left -= 1;
        self.push(view, part, mapped);
        true
    }

    fn push(&mut self, view: &str, part: usize, mapped: &[Mapped]) {
        let (starts, ends) = units_of(mapped);
        let (view, text) = (view.to_owned(), text_of(mapped));
        self.looks.push(Look {
            view,
            part,
            text,
            starts,
            ends,
        });
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
