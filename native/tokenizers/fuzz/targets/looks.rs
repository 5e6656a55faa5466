//! What a guard looks at and finds: every place lies in what was sent, and what is hidden is found.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::guard::{
    Deadline, Look, MOST_UNESCAPED, Options, Patterns, Place, Source, Views, looks_of, places_in,
};

const HEAD: usize = 3;
/// Ends a part.
const BORDER: u8 = 0xff;
const KINDS: [&str; 6] = ["email", "card", "iban", "ip", "phone", "url"];
/// A word, and runs that overlap nothing of each other.
const REGEXES: [&str; 3] = [r"(?i)ignore\W+all", r"\d+", r"[^\p{ASCII}]+"];
const SECRET: &str = "ann.lee@example.org";

/// The first three bytes choose: the views; how many views and places may be; how the secret is hidden.
/// The rest is the parts.
pub fn looks(data: &[u8]) {
    static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
        let sources = KINDS.map(Source::Kind).into_iter();
        Patterns::compile(sources.chain(REGEXES.map(Source::Regex))).expect("patterns")
    });
    let Some((head, text)) = data.split_at_checked(HEAD) else {
        return;
    };
    let parts: Vec<String> = text.split(|byte| *byte == BORDER).map(read).collect();
    let views = Views {
        forms: head[0] & 1 != 0,
        decoded: head[0] & 2 != 0,
        joined: head[0] & 4 != 0,
        most: usize::from(head[1] & 31),
        deadline: Deadline::default(),
    };
    let options = Options {
        most_places: usize::from(head[1] >> 5) * 8,
        deadline: Deadline::default(),
    };
    let (looks, _) = looks_of(parts.clone(), &views);
    // Parts, two ways to join them, and what is made of each by undoing escapes.
    let free = (parts.len() + 2) * MOST_UNESCAPED;
    assert!(looks.len() <= parts.len() + free + views.most);
    for (look, part) in looks.iter().filter(|look| look.view.is_empty()).zip(&parts) {
        assert_eq!(&look.text, part);
    }
    let ends = Sent::new(&parts);
    for look in &looks {
        ends.check(look);
    }
    let (places, _) = places_in(&PATTERNS, &looks, &options);
    assert!(places.len() <= options.most_places);
    for place in &places {
        check_place(place, &looks[place.look]);
    }
    hide(&PATTERNS, &parts.concat(), head[2]);
}

fn read(bytes: &[u8]) -> String {
    let text: Cow<str> = String::from_utf8_lossy(bytes);
    text.into_owned()
}

/// Where characters begin and end, in UTF-16 units: of each part, and at last of all of them.
struct Sent(Vec<Vec<bool>>);

impl Sent {
    fn new(parts: &[String]) -> Self {
        let all = parts.concat();
        let each = parts.iter().chain([&all]).map(|text| borders_of(text));
        Self(each.collect())
    }

    /// What a look is made of is whole characters of what was sent.
    fn check(
        &self,
        Look {
            view,
            part,
            text,
            starts,
            ends,
        }: &Look,
    ) {
        let units = text.encode_utf16().count();
        if view.is_empty() {
            assert!(starts.is_empty() && ends.is_empty());
            return;
        }
        assert_eq!([starts.len(), ends.len()], [units; 2], "{view}: {text:?}");
        let borders = &self.0[*part];
        for (start, end) in starts.iter().zip(ends) {
            assert!(start <= end, "{view}: {text:?}");
            for place in [start, end] {
                assert!(borders[*place as usize], "{view}: {place} in {text:?}");
            }
        }
        // A span never ends before it begins.
        assert!(starts.is_sorted() && ends.is_sorted(), "{view}: {text:?}");
    }
}

fn borders_of(text: &str) -> Vec<bool> {
    let mut borders = vec![true];
    for character in text.chars() {
        borders.extend((1..character.len_utf16()).map(|_| false));
        borders.push(true);
    }
    borders
}

fn check_place(place: &Place, look: &Look) {
    let borders = borders_of(&look.text);
    let [start, end] = [place.start, place.end].map(|unit| unit as usize);
    assert!(
        start < end && end < borders.len(),
        "{place:?} in {:?}",
        look.text
    );
    assert!(
        borders[start] && borders[end],
        "{place:?} in {:?}",
        look.text
    );
}

/// An address behind any text is found where it stands, whatever is written within it that is not seen, and however
/// it is cut into parts.
fn hide(patterns: &Patterns, before: &str, choice: u8) {
    const HIDDEN: [&str; 4] = ["", "\u{200b}", "\u{202e}", "\u{ad}"];
    let hidden = HIDDEN[usize::from(choice & 3)];
    let written: String = SECRET.chars().map(|one| format!("{one}{hidden}")).collect();
    let sent = format!("{before} <{written}>");
    let cut = usize::from(choice >> 2) * sent.chars().count() / 64;
    let cut = sent
        .char_indices()
        .nth(cut)
        .map_or(sent.len(), |(at, _)| at);
    let parts = [sent[..cut].to_owned(), sent[cut..].to_owned()].to_vec();
    let views = Views {
        forms: true,
        decoded: false,
        joined: true,
        most: 1000,
        deadline: Deadline::default(),
    };
    let options = Options {
        most_places: usize::MAX,
        deadline: Deadline::default(),
    };
    let (looks, is_all) = looks_of(parts, &views);
    assert!(is_all);
    let (places, _) = places_in(patterns, &looks, &options);
    let secret: Vec<u16> = SECRET.encode_utf16().collect();
    let is_found = places.iter().any(|place| {
        let units: Vec<u16> = looks[place.look].text.encode_utf16().collect();
        place.pattern == 0 && units[place.start as usize..place.end as usize] == secret
    });
    assert!(is_found, "{hidden:?} at {cut} of {sent:?}");
}
