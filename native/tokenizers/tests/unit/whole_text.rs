//! Tokens of whole texts are those of the crate, which text-embeddings-inference returns.

use super::texts::{Random, text};
use super::{Tokenizer, family, fixtures, own_texts, rounds};

/// Ids and offsets in bytes, from the crate.
fn expected(tokenizer: &Tokenizer, text: &str) -> (Vec<i64>, Vec<u32>) {
    let encoding = tokenizer.inner.encode(text, false).expect("an encoding");
    let offsets = encoding.get_offsets().iter();
    (
        encoding.get_ids().iter().map(|id| i64::from(*id)).collect(),
        offsets
            .flat_map(|(begin, end)| [*begin, *end])
            .map(|offset| u32::try_from(offset).expect("a small text"))
            .collect(),
    )
}

#[test]
fn tokens_of_a_whole_text_are_those_of_the_crate() {
    for directory in fixtures() {
        let tokenizer = Tokenizer::open(&directory, family(&directory), 512).expect("a tokenizer");
        let random = &mut Random(27_110_107);
        let own = own_texts(&tokenizer, random);
        for _ in 0..rounds() / 12 {
            let size = *random.of(&[30, 300, 3000]);
            let text = text(random, &own, size);
            let plain = tokenizer.encode_whole_text(&text, false).expect("tokens");
            let (ids, offsets) = expected(&tokenizer, &text);
            assert_eq!(plain.input_ids, ids, "{directory:?}: {text:?}");
            assert_eq!(plain.offsets, offsets, "{directory:?}: {text:?}");
            assert!(plain.sequence_ids.iter().all(|id| *id == 1));
            let special = tokenizer.encode_whole_text(&text, true).expect("tokens");
            let kept = special.sequence_ids.iter().zip(&special.input_ids);
            let kept: Vec<_> = kept
                .filter(|(text, _)| **text == 1)
                .map(|(_, id)| *id)
                .collect();
            assert_eq!(kept, ids, "{directory:?}: {text:?}");
            let ids: Vec<_> = ids
                .iter()
                .map(|id| u32::try_from(*id).expect("an id"))
                .collect();
            assert_eq!(tokenizer.find_unknown_id(&ids), None);
            let decoded = tokenizer.decode(&ids, true).expect("a text");
            assert_eq!(decoded, tokenizer.inner.decode(&ids, true).expect("a text"));
        }
        assert_eq!(tokenizer.find_unknown_id(&[0, u32::MAX]), Some(1));
    }
}
