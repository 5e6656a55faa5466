//! Normalization variants of texts: each part as sent, and what obfuscation may hide in it.

use std::collections::HashSet;

use crate::decoding::decode_hidden;
use crate::escapes::{self, Unescaped};
use crate::mapped::{MappedChar, mapped_chars, to_text, utf16_offsets};
use crate::normalization;
use crate::scan::Deadline;

/// A text to inspect.
#[derive(Debug, PartialEq, Eq)]
pub struct TextVariant {
    /// Normalization steps, separated by spaces, as guardrail policies name them; empty: the part as sent.
    pub steps: String,
    /// Index of the part; the number of parts for a variant of all parts together.
    pub part: usize,
    pub text: String,
    /// Start in the part of the source of each UTF-16 unit of `text`, in UTF-16 units. A variant of all parts counts
    /// in their concatenation. Empty if `steps` is empty.
    pub starts: Vec<u32>,
    /// Ends of the same sources.
    pub ends: Vec<u32>,
}

/// The variants to make.
#[derive(Default)]
pub struct VariantOptions {
    /// Without invisible characters, in NFKC, with Latin letters instead of confusable ones.
    pub normalized: bool,
    /// Decoded base64 (also base64 within base64), tag characters, variation selectors, and escapes of HTML, URLs and
    /// JSON.
    pub decoded: bool,
    /// All parts as one text.
    pub joined: bool,
    /// Maximum number of variants, in addition to the parts and to `escapes::MAX` variants of each text.
    pub max_variants: usize,
    /// Time after which no further variants are made.
    pub deadline: Deadline,
}

/// Step of a text in which one escape syntax was decoded, once.
const PARTLY: &str = "decoded partly";
/// How often decoded text is decoded again.
const MAX_NESTING: usize = 1;

/// Returns the parts and their variants, and whether `max_variants` sufficed.
pub fn text_variants(parts: Vec<String>, options: &VariantOptions) -> (Vec<TextVariant>, bool) {
    let mut collector = VariantCollector {
        options,
        variants: Vec::new(),
        remaining: options.max_variants,
        is_complete: true,
        known: HashSet::new(),
    };
    let count = parts.len();
    let joined = if options.joined {
        joined(&parts)
    } else {
        Vec::new()
    };
    let borders = borders(&parts);
    for (part, text) in parts.into_iter().enumerate() {
        let mapped = (options.normalized || options.decoded).then(|| mapped_chars(&text));
        collector.variants.push(TextVariant {
            steps: String::new(),
            part,
            text,
            starts: Vec::new(),
            ends: Vec::new(),
        });
        if let Some(mapped) = mapped {
            collector.add_variants(&mapped, Origin::sent(part, ""), &|_| true);
        }
    }
    for text in joined {
        collector.add("joined", count, &text);
        // Text within one part was decoded with that part.
        collector.add_variants(&text, Origin::sent(count, "joined"), &|(start, end)| {
            borders
                .iter()
                .any(|border| start < *border && *border < end)
        });
    }
    (collector.variants, collector.is_complete)
}

/// Part and steps of a text whose variants are made.
#[derive(Clone, Copy)]
struct Origin<'a> {
    part: usize,
    steps: &'a str,
    /// How often text decoded from this one is decoded again.
    nesting: usize,
    /// False: its escapes are decoded already.
    has_escapes: bool,
    /// Unescaped variants do not count against `max_variants`: their number is bounded by the number of parts.
    is_free: bool,
}

impl<'a> Origin<'a> {
    fn sent(part: usize, steps: &'a str) -> Self {
        Self {
            part,
            steps,
            nesting: MAX_NESTING,
            has_escapes: true,
            is_free: true,
        }
    }
}

struct VariantCollector<'a> {
    options: &'a VariantOptions,
    variants: Vec<TextVariant>,
    remaining: usize,
    is_complete: bool,
    /// Part, start and content of each decoded text.
    known: HashSet<(usize, u32, String)>,
}

impl VariantCollector<'_> {
    /// Adds the normalized and decoded variants of a text. `is_new` receives the extent of a decoded text and returns
    /// false if another call decodes it.
    fn add_variants(
        &mut self,
        text: &[MappedChar],
        origin: Origin,
        is_new: &dyn Fn((u32, u32)) -> bool,
    ) {
        let Origin { part, steps, .. } = origin;
        let forms = if self.options.normalized {
            if let Some(spaced) = normalization::blanks_to_spaces(text) {
                let steps = with_step(steps, "spaced");
                self.add(&steps, part, &spaced);
                self.add_forms(&spaced, part, &steps);
            }
            self.add_forms(text, part, steps)
        } else {
            Vec::new()
        };
        if !self.options.decoded {
            return;
        }
        let decoded_steps = with_step(steps, "decoded");
        for (form, is_own) in [(Some(text), true), (forms.last().map(Vec::as_slice), false)] {
            let Some(form) = form.filter(|_| !self.is_late()) else {
                continue;
            };
            if origin.has_escapes {
                let is_free = origin.is_free && is_own;
                self.add_unescaped(form, Origin { is_free, ..origin });
            }
            for hidden in decode_hidden(form) {
                let extent = (hidden[0].1, hidden[hidden.len() - 1].2);
                if !is_new(extent) || !self.is_unknown(&hidden, part) {
                    continue;
                }
                if !self.add(&decoded_steps, part, &hidden) {
                    return;
                }
                if origin.nesting > 0 {
                    let origin = Origin {
                        part,
                        steps: &decoded_steps,
                        nesting: origin.nesting - 1,
                        has_escapes: true,
                        is_free: false,
                    };
                    self.add_variants(&hidden, origin, &|_| true);
                }
            }
        }
    }

    /// Adds the text with decoded escapes, and the variants of that.
    fn add_unescaped(&mut self, text: &[MappedChar], origin: Origin) {
        for Unescaped { text, is_whole } in escapes::unescaped_texts(text) {
            if text.is_empty() || !self.is_unknown(&text, origin.part) {
                continue;
            }
            let steps = with_step(origin.steps, if is_whole { "decoded" } else { PARTLY });
            if origin.is_free {
                self.push(&steps, origin.part, &text);
            } else if !self.add(&steps, origin.part, &text) {
                return;
            }
            if is_whole {
                let origin = Origin {
                    steps: &steps,
                    has_escapes: false,
                    ..origin
                };
                self.add_variants(&text, origin, &|_| true);
            } else if self.options.normalized {
                self.add_forms(&text, origin.part, &steps);
            }
        }
    }

    /// Adds and returns the normalized forms, each made from the previous one.
    fn add_forms(&mut self, text: &[MappedChar], part: usize, steps: &str) -> Vec<Vec<MappedChar>> {
        let mut forms: Vec<Vec<MappedChar>> = Vec::new();
        for (step, normalize) in FORMS {
            if self.is_late() {
                break;
            }
            if let Some(changed) = normalize(forms.last().map_or(text, |last| last)) {
                self.add(&with_step(steps, step), part, &changed);
                forms.push(changed);
            }
        }
        forms
    }

    /// Records a decoded text. Returns false if the same text at the same position is recorded already.
    fn is_unknown(&mut self, hidden: &[MappedChar], part: usize) -> bool {
        self.known.insert((part, hidden[0].1, to_text(hidden)))
    }

    fn is_late(&self) -> bool {
        self.options.deadline.has_passed()
    }

    /// Adds a variant. Returns false if `max_variants` is reached.
    fn add(&mut self, steps: &str, part: usize, mapped: &[MappedChar]) -> bool {
        if self.remaining == 0 {
            self.is_complete = false;
            return false;
        }
        self.remaining -= 1;
        self.push(steps, part, mapped);
        true
    }

    fn push(&mut self, steps: &str, part: usize, mapped: &[MappedChar]) {
        let (starts, ends) = utf16_offsets(mapped);
        self.variants.push(TextVariant {
            steps: steps.to_owned(),
            part,
            text: to_text(mapped),
            starts,
            ends,
        });
    }
}

/// Returns None if the step does not change the text.
type Form = fn(&[MappedChar]) -> Option<Vec<MappedChar>>;

/// Normalization steps in order.
const FORMS: [(&str, Form); 3] = [
    ("visible", normalization::strip_invisible),
    ("compatible", normalization::nfkc),
    ("latin", normalization::fold_confusables),
];

fn with_step(steps: &str, step: &str) -> String {
    if steps.is_empty() {
        step.to_owned()
    } else {
        format!("{steps} {step}")
    }
}

/// Ends of the parts in their concatenation, in UTF-16 units.
fn borders(parts: &[String]) -> Vec<u32> {
    let mut unit = 0;
    let ends = parts.iter().map(|part| {
        unit += part.encode_utf16().count() as u32;
        unit
    });
    ends.collect()
}

/// The concatenation of all parts and, if that joins words, a second text with spaces between the parts.
fn joined(parts: &[String]) -> Vec<Vec<MappedChar>> {
    if parts.iter().filter(|part| !part.is_empty()).count() < 2 {
        return Vec::new();
    }
    let plain = mapped_chars(&parts.concat());
    let mut spaced = Vec::with_capacity(plain.len() + parts.len());
    let mut rest = &plain[..];
    for part in parts {
        let (own, following) = rest.split_at(part.chars().count());
        let touches = |one: Option<&MappedChar>| one.is_some_and(|one| !one.0.is_whitespace());
        if touches(spaced.last()) && touches(own.first()) {
            spaced.push((' ', own[0].1, own[0].1));
        }
        spaced.extend_from_slice(own);
        rest = following;
    }
    if spaced.len() == plain.len() {
        vec![plain]
    } else {
        vec![plain, spaced]
    }
}
