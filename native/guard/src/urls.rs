//! URLs: `http://` and `https://`.

use std::ops::ControlFlow;
use std::sync::LazyLock;

use regex::Regex;

use crate::kinds::MatchSink;

static RUN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"(?i)https?://[^\s<>"]+"#).expect("is a pattern"));

static SCHEME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("(?i)https?://").expect("is a pattern"));

/// Finds URLs up to white space, a quotation mark or an angle bracket.
pub fn find(text: &str, sink: &mut dyn MatchSink) -> ControlFlow<()> {
    for run in RUN.find_iter(text) {
        sink.poll()?;
        // In `https://a](https://[::1]`, the last bracket belongs to the second URL.
        let text = run.as_str();
        let last = SCHEME.find_iter(text).last().map_or(0, |one| one.start());
        let ends = [0, last].map(|start| start + without_punctuation(&text[start..]).len());
        sink.found(run.start()..run.start() + ends[0].max(ends[1]))?;
    }
    ControlFlow::Continue(())
}

/// Removes punctuation of the surrounding sentence. A closing bracket is kept if the URL contains the opening one.
fn without_punctuation(url: &str) -> &str {
    let mut open = ["()", "[]", "{}"].map(|pair| {
        let [opening, closing] = [0, 1].map(|at| url.matches(&pair[at..=at]).count());
        (&pair[1..], opening, closing)
    });
    let mut kept = url;
    while let Some(last) = kept.chars().next_back() {
        if let Some((_, opening, closing)) = open.iter_mut().find(|(of, ..)| of.starts_with(last)) {
            if opening >= closing {
                break;
            }
            *closing -= 1;
        } else if !".,;:!?'*".contains(last) {
            break;
        }
        kept = &kept[..kept.len() - 1];
    }
    kept
}
