//! Encodings of text that readers or their programs decode.

/// Deterministic random numbers (Marsaglia's xorshift).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }

    pub fn one_of<'a, Item: ?Sized>(&mut self, items: &[&'a Item]) -> &'a Item {
        items[self.below(items.len())]
    }
}

/// Encodes one character.
pub type Encoding = fn(char, &mut Random) -> String;

pub const ENCODINGS: [(&str, Encoding); 15] = [
    ("plain", |one, _| one.to_string()),
    ("decimal entities", |one, _| format!("&#{};", one as u32)),
    ("hexadecimal entities", |one, _| {
        format!("&#x{:x};", one as u32)
    }),
    ("named entities", |one, _| match one {
        '@' => "&commat;".into(),
        '.' => "&period;".into(),
        ' ' => "&nbsp;".into(),
        ':' => "&colon;".into(),
        '/' => "&sol;".into(),
        '+' => "&plus;".into(),
        '-' => "&#45;".into(),
        '(' => "&lpar;".into(),
        '&' => "&amp;".into(),
        '"' => "&quot;".into(),
        one => one.to_string(),
    }),
    ("percent", |one, _| {
        let mut buffer = [0; 4];
        let bytes = one.encode_utf8(&mut buffer).bytes();
        bytes.map(|byte| format!("%{byte:02X}")).collect()
    }),
    ("percent, where it has to be", |one, _| {
        let mut buffer = [0; 4];
        let bytes = one.encode_utf8(&mut buffer).bytes();
        match one {
            ' ' => "+".into(),
            one if one.is_ascii_alphanumeric() || "-._~".contains(one) => one.to_string(),
            _ => bytes.map(|byte| format!("%{byte:02x}")).collect(),
        }
    }),
    ("JSON", |one, _| {
        json_string(one, |one| !one.is_ascii() || "\"\\\r\n@/".contains(one))
    }),
    ("JSON, all", |one, _| json_string(one, |_| true)),
    ("JSON in JSON", |one, _| {
        json_string(one, |_| true).replace('\\', "\\\\")
    }),
    ("hexadecimal escapes", |one, _| match one as u32 {
        code @ 0..=0x7f => format!("\\x{code:02x}"),
        code => format!("\\u{{{code:x}}}"),
    }),
    ("Markdown", |one, _| match one.is_ascii_punctuation() {
        true => format!("\\{one}"),
        false => one.to_string(),
    }),
    ("letters of escapes", |one, _| match one {
        '\n' => "\\n".into(),
        '\r' => "\\r".into(),
        '\t' => "\\t".into(),
        '/' => "\\/".into(),
        '"' => "\\\"".into(),
        one => one.to_string(),
    }),
    ("full width", |one, _| match one {
        '!'..='~' => char::from_u32(one as u32 + 0xfee0).unwrap().to_string(),
        one => one.to_string(),
    }),
    ("characters that are not seen", |one, random| {
        let hidden = [
            "", "\u{200b}", "\u{2060}", "\u{ad}", "\u{202e}", "\u{3164}", "\u{2800}",
        ];
        format!("{one}{}", random.one_of(&hidden))
    }),
    ("all at once", |one, random| {
        let of = 1 + random.below(12);
        let (_, encoding) = ENCODINGS[if of == 5 || of == 8 { 1 } else { of }];
        encoding(one, random)
    }),
];

fn json_string(one: char, is_escaped: impl Fn(char) -> bool) -> String {
    let mut buffer = [0; 2];
    match is_escaped(one) {
        true => {
            let units = one.encode_utf16(&mut buffer).iter();
            units.map(|unit| format!("\\u{unit:04x}")).collect()
        }
        false => one.to_string(),
    }
}
