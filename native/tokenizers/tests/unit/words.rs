use super::*;

fn words(text: &str) -> Vec<&str> {
    let ranges = split_words(text, WordSplitter::Gliner);
    ranges
        .iter()
        .map(|&(begin, end)| &text[begin..end])
        .collect()
}

#[test]
fn splits_like_gliner() {
    // Expected values: re.findall(r"\w+(?:[-_]\w+)*|\S", text) of Python 3.11.
    assert_eq!(
        words("Dr. Jean-Luc_P (1799), 3.5 km!"),
        [
            "Dr",
            ".",
            "Jean-Luc_P",
            "(",
            "1799",
            ")",
            ",",
            "3",
            ".",
            "5",
            "km",
            "!"
        ]
    );
    assert_eq!(words("--a--b-"), ["-", "-", "a", "-", "-", "b", "-"]);
    assert_eq!(words("日本語とÉcole №²½"), ["日本語とÉcole", "№", "²½"]);
    assert_eq!(words(" \t\u{a0}\u{2003}\u{1c}\u{85} "), Vec::<&str>::new());
    assert_eq!(
        words("👩‍🚀 e\u{301}té"),
        ["👩", "\u{200d}", "🚀", "e", "\u{301}", "té"]
    );
}

#[test]
fn counts_offsets_in_utf16_units() {
    let text = "😀 né";
    let ranges = split_words(text, WordSplitter::Gliner);
    assert_eq!(utf16_offsets(text, &ranges), [0, 2, 3, 5]);
}

fn windows(counts: &[u32], room: usize, max_words: usize, overlap: usize) -> Vec<Range<usize>> {
    let input = WordsInput {
        prompt: &[],
        text: "",
        splitter: WordSplitter::Gliner,
        max_words,
        overlap,
        rows: usize::MAX,
    };
    windows_of(counts, room, &input)
}

#[test]
fn divides_long_texts_into_windows() {
    assert_eq!(windows(&[1; 5], 10, 5, 2), std::slice::from_ref(&(0..5)));
    assert_eq!(windows(&[1; 7], 10, 4, 1), [0..4, 3..7]);
    assert_eq!(windows(&[3, 3, 3, 3], 6, 9, 1), [0..2, 1..3, 2..4]);
    // A word with more tokens than the model takes is alone in its window.
    assert_eq!(windows(&[1, 99, 1], 6, 9, 1), [0..1, 1..2, 2..3]);
    assert_eq!(windows(&[], 6, 9, 1), Vec::<Range<usize>>::new());
}

#[test]
fn windows_cover_all_words_and_end() {
    for overlap in 0..9 {
        for max_words in 1..9 {
            let found = windows(&[2, 1, 0, 5, 1, 1, 3, 1, 2, 1], 5, max_words, overlap);
            assert_eq!((found[0].start, found.last().unwrap().end), (0, 10));
            for pair in found.windows(2) {
                assert!(pair[1].start > pair[0].start && pair[1].start <= pair[0].end);
                assert!(pair[1].end > pair[0].end);
            }
        }
    }
}
