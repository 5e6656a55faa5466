//! Ids of the short words of a vocabulary, in one table without pointers. A lookup reads one cache line; the map of the
//! crate reads its entry and the characters of the word, which are elsewhere.

use tokenizers::Model;
use tokenizers::models::wordpiece::WordPiece;

/// Maximum word length in bytes.
const MAX_LENGTH: usize = 16;

/// Bytes of a word, then zeros. No word of the table contains a zero.
pub(super) type Key = [u64; 2];

#[derive(Clone, Copy)]
struct Slot {
    /// Zero: the slot is empty.
    key: Key,
    id: u32,
}

/// Open addressing with linear probing. At most half of the slots are used.
pub(super) struct ShortWords {
    slots: Vec<Slot>,
}

impl ShortWords {
    /// The words of the vocabulary that consist of visible ASCII characters and that the model does not split.
    pub fn of(model: &WordPiece) -> Self {
        let vocabulary = model.get_vocab();
        let most = MAX_LENGTH.min(model.max_input_chars_per_word);
        let is_short = |word: &str| {
            (1..=most).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_graphic())
        };
        let words = vocabulary.iter().filter(|(word, _)| is_short(word));
        let words: Vec<_> = words
            .filter_map(|(word, id)| Some((Self::key(word, false)?, *id)))
            .collect();
        let size = (2 * words.len()).next_power_of_two();
        let empty = Slot { key: [0; 2], id: 0 };
        let mut table = Self {
            slots: vec![empty; size],
        };
        for (key, id) in words {
            let at = table.find(key);
            table.slots[at] = Slot { key, id };
        }
        table
    }

    /// Key of a word of visible ASCII characters; `None` if the word is too long or empty. `lowercases`: key of the word in lower case.
    pub fn key(word: &str, lowercases: bool) -> Option<Key> {
        let mut bytes = [0; MAX_LENGTH];
        bytes
            .get_mut(..word.len())?
            .copy_from_slice(word.as_bytes());
        if lowercases {
            bytes.make_ascii_lowercase();
        }
        let (first, second) = bytes.split_at(8);
        let number = |half: &[u8]| half.try_into().ok().map(u64::from_le_bytes);
        Some([number(first)?, number(second)?]).filter(|key| *key != [0; 2])
    }

    /// `None` if the table does not contain the word.
    pub fn id(&self, key: Key) -> Option<u32> {
        let slot = self.slots[self.find(key)];
        (slot.key == key).then_some(slot.id)
    }

    /// Index of the slot with the key, or of the empty slot for it.
    fn find(&self, key: Key) -> usize {
        let mask = self.slots.len() - 1;
        let mixed = (key[0] ^ key[1].rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut at = (mixed >> 32) as usize & mask;
        while self.slots[at].key != [0; 2] && self.slots[at].key != key {
            at = (at + 1) & mask;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(words: &[&str], most: usize) -> WordPiece {
        let ids = words.iter().zip(0_u32..);
        let vocabulary: serde_json::Map<_, _> = ids
            .map(|(word, id)| ((*word).to_owned(), id.into()))
            .collect();
        let file = serde_json::json!({
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": most,
            "vocab": vocabulary,
        });
        serde_json::from_str(&file.to_string()).unwrap()
    }

    fn id(table: &ShortWords, word: &str) -> Option<u32> {
        table.id(ShortWords::key(word, false)?)
    }

    #[test]
    fn finds_every_short_word_of_a_vocabulary() {
        let words: Vec<String> = (0..5000).map(|i| format!("word{}", i * 7919)).collect();
        let mut all: Vec<&str> = words.iter().map(String::as_str).collect();
        all.extend([
            "[UNK]",
            "a",
            "abcdefgh",
            "sixteen-letters-",
            "seventeen-letters",
            "caf\u{e9}",
        ]);
        let table = ShortWords::of(&model(&all, 100));
        for (index, word) in all.iter().enumerate() {
            let expected = (word.is_ascii() && word.len() <= MAX_LENGTH)
                .then(|| u32::try_from(index).unwrap());
            assert_eq!(id(&table, word), expected, "{word}");
        }
        for absent in ["", "word", "b", "sixteen-letters_"] {
            assert_eq!(id(&table, absent), None, "{absent}");
        }
    }

    #[test]
    fn compares_in_lower_case_if_the_tokenizer_does() {
        let table = ShortWords::of(&model(&["[UNK]", "film"], 100));
        let key = |lowercases| ShortWords::key("FiLM", lowercases).unwrap();
        assert_eq!(table.id(key(true)), Some(1));
        assert_eq!(table.id(key(false)), None);
    }

    #[test]
    fn omits_words_that_the_model_splits() {
        let table = ShortWords::of(&model(&["[UNK]", "long"], 3));
        assert_eq!(id(&table, "long"), None);
    }

    #[test]
    fn an_empty_vocabulary_contains_no_word() {
        assert_eq!(id(&ShortWords::of(&model(&[], 100)), "a"), None);
    }
}
