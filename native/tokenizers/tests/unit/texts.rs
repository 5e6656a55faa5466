//! Random texts.

/// Deterministic random numbers (xorshift64*).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % end
    }

    pub fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// Pieces of texts. A text uses a few rows, with or without spaces, so that many texts have no space, no letter, or
/// only marks.
const ROWS: [&[&str]; 23] = [
    &[" ", " ", " ", "\n", "  "],
    &[
        "\t", "\r\n", "\u{a0}", "\u{2003}", "\u{3000}", "\u{2028}", "\u{b}", "\u{85}", "   ",
    ],
    &[
        "the",
        "film",
        "is",
        "good",
        "It",
        "Antidisestablishmentarianism",
        "a",
        "I",
    ],
    &[
        "don't", "we'll", "'s", "'ll", "'", "l", "''", "``", "`", "it's", "'re", "'v",
    ],
    &["1", "23", "2026", "٣", "½", "²", "①"],
    &[
        ".", ",", "!", "?", "…", "«", "»", "-", "—", "(", "]", "[", "<", ">", "/", "。", "！",
    ],
    &["电", "影", "很", "好", "看", "𠀀", "金", "\u{f900}"],
    &["が", "か\u{3099}", "ガ", "ｶﾞ", "ー", "映画"],
    &[
        "한",
        "국어",
        "영화",
        "\u{1112}\u{1161}\u{11ab}",
        "\u{1100}",
        "\u{1161}",
        "ㅎ",
        "ㅏ",
    ],
    &["ภาพ", "ยนตร์", "ดี", "มาก", "ำ", "ກຳ", "ถนน"],
    &["фильм", "й", "и\u{306}", "Ё", "ταινία", "ς", "Σ", "ΐ"],
    &["فيلم", "جيد", "لا", "\u{640}", "\u{600}1", "שָׁלוֹם"],
    &["फ़िल्म", "क\u{94d}ष", "क", "\u{93e}", "কো", "க", "\u{bbe}"],
    &[
        "é", "e\u{301}", "ü", "Å", "\u{212b}", "ﬁ", "İ", "ß", "ǆ", "ﷺ", "≠",
    ],
    &[
        "\u{301}",
        "\u{323}",
        "\u{345}",
        "\u{fe0f}",
        "\u{20e3}",
        "\u{1d165}",
        "\u{302e}",
    ],
    &["\u{301}"],
    &[
        "\0", "\u{1}", "\u{7f}", "\u{200b}", "\u{200d}", "\u{fffd}", "\u{ad}", "\u{feff}",
    ],
    &["😀", "🎬", "🫠", "👍🏽", "❤️", "☺", "©"],
    &["👨‍👩‍👧", "🇩🇪", "🇫", "🏴\u{e0067}", "🧑‍🚀"],
    &["=", "+", "$", "^", "~", "▁", "_", "|"],
    &["aaaaaaaaaaaaaaaa", "ab", "abab", "b"],
    &["-------", "=======", "........"],
    &["\u{10ffff}", "\u{e000}", "\u{378}", "𝔞", "𐍈"],
];

pub fn text(random: &mut Random, own: &[String], size: usize) -> String {
    let count = 1 + random.below(3);
    let rows: Vec<&[&str]> = (0..count).map(|_| *random.of(&ROWS)).collect();
    let uses_own = random.below(3) == 0;
    let spaces_words = random.below(2) == 0;
    let mut text = String::new();
    while text.len() < size {
        let piece: &str = match random.below(12) {
            0 | 1 if uses_own && !own.is_empty() => &own[random.below(own.len())],
            _ => {
                let row: &[&str] = rows[random.below(rows.len())];
                row[random.below(row.len())]
            }
        };
        let repeats = match random.below(60) {
            0 => 1 + random.below(300),
            _ => 1,
        };
        text.push_str(&piece.repeat(repeats));
        if spaces_words && random.below(3) > 0 {
            text.push(' ');
        }
    }
    text
}
