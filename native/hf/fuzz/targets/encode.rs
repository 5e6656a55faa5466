//! Any bytes as a text, over the C ABI: nothing fails, and a limit gives the ids of the whole.

use super::c_abi::Handle;
use super::fixtures::Each;

const HEAD: usize = 2;
/// From this size on a text is read in parts.
const LONG: usize = 5000;

/// The first two bytes choose the tokenizer and the limit. A text is given as it is and, repeated, as
/// one that is long enough to be cut.
pub fn encode(data: &[u8]) {
    static TOKENIZERS: Each<[Handle; 3]> = Each::new();
    let Some((head, text)) = data.split_at_checked(HEAD) else {
        return;
    };
    let (name, [whole, short, shorter]) = TOKENIZERS.get(head[0], |directory, family| {
        let open = |limit| Handle::open(directory, family, limit).expect("a fixture");
        let mut shorter = open(usize::MAX);
        shorter.limit(7).expect("room for text");
        [open(1 << 40), open(64), shorter]
    });
    let limited = if head[1] & 1 == 0 { short } else { shorter };
    let lossy = String::from_utf8_lossy(text);
    let repeats = LONG / text.len().max(1) + 1;
    let seam: &[u8] = if head[1] & 2 == 0 { b"" } else { b" " };
    let long = [text, seam].concat().repeat(repeats);
    for text in [text, &long] {
        let all = whole.encode(text).expect("no failure");
        let some = limited.encode(text).expect("no failure");
        assert_eq!(all.input_ids.len(), all.token_type_ids.len());
        let fits = all.input_ids.len() <= limited.max_length();
        assert_eq!(some.truncated, all.truncated || !fits, "{name}: {lossy:?}");
        if fits {
            assert_eq!(some.input_ids, all.input_ids, "{name}: {lossy:?}");
        }
        let specials = whole.encode(b"").expect("no failure").input_ids.len();
        let is_kept =
            |before| is_part(&some.input_ids, &all.input_ids, (before, specials - before));
        assert!((0..=specials).any(is_kept), "{name}: {lossy:?}");
    }
    let valid = whole.encode(lossy.as_bytes()).expect("no failure");
    assert_eq!(
        whole.encode(text).expect("no failure"),
        valid,
        "{name}: {lossy:?}"
    );
}

/// Between so many special tokens, one end of the other's content. Which one the fixture says.
fn is_part(some: &[i64], all: &[i64], (before, after): (usize, usize)) -> bool {
    let content = |ids: &[i64]| ids[before..ids.len() - after].to_vec();
    let (some_content, all_content) = (content(some), content(all));
    let is_end = all_content.starts_with(&some_content) || all_content.ends_with(&some_content);
    is_end && some[..before] == all[..before] && some.ends_with(&all[all.len() - after..])
}
