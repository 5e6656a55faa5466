//! Random valid values of each kind.

use std::net::Ipv6Addr;

use super::writing::Random;

pub fn email(random: &mut Random) -> String {
    let letters = [
        "a", "b", "lee", "x1", "\u{fc}", "\u{436}", "\u{4f8b}", "9", "O",
    ];
    let separators = [".", "+", "_", "-", "'", "", "", ""];
    let label = |random: &mut Random| {
        let count = 1 + random.below(3);
        let parts: Vec<&str> = (0..count).map(|_| random.one_of(&letters)).collect();
        parts.join(random.one_of(&["", "", "-"]))
    };
    let mut local = label(random);
    for _ in 0..random.below(3) {
        local += random.one_of(&separators);
        local += &label(random);
    }
    if random.below(6) == 0 {
        local = format!("\"{local} {}\"", label(random));
    }
    let labels: Vec<String> = (0..1 + random.below(3)).map(|_| label(random)).collect();
    let top = random.one_of(&[
        "org",
        "io",
        "example",
        "xn--p1ai",
        "\u{440}\u{444}",
        "museum",
    ]);
    format!("{local}@{}.{top}", labels.join("."))
}

fn digits(random: &mut Random, count: usize) -> String {
    (0..count)
        .map(|_| char::from(b'0' + random.below(10) as u8))
        .collect()
}

/// Splits a number into groups, separated by `gap`.
fn grouped(number: &str, groups: &[usize], gap: &str) -> String {
    let mut rest = number;
    let mut parts = Vec::new();
    for length in groups {
        let (group, following) = rest.split_at((*length).min(rest.len()));
        parts.push(group);
        rest = following;
    }
    parts.push(rest);
    parts.retain(|part| !part.is_empty());
    parts.join(gap)
}

const GAPS: [&str; 9] = ["", "", " ", "-", ".", "\n", "\r\n", "  ", "\u{a0}"];

pub fn card(random: &mut Random) -> String {
    let (prefix, length) = [
        ("4", 16),
        ("4", 13),
        ("51", 16),
        ("2221", 16),
        ("34", 15),
        ("37", 15),
        ("6011", 16),
        ("65", 19),
        ("36", 14),
        ("3528", 16),
        ("62", 17),
        ("6304", 12),
    ][random.below(12)];
    let begin = format!("{prefix}{}", digits(random, length - prefix.len() - 1));
    let sum: u32 = begin
        .bytes()
        .rev()
        .enumerate()
        .map(
            |(index, digit)| match (index % 2, u32::from(digit - b'0')) {
                (1, digit) => digit,
                (_, digit) => 2 * digit - if digit > 4 { 9 } else { 0 },
            },
        )
        .sum();
    let number = format!("{begin}{}", (10 - sum % 10) % 10);
    let groups: &[usize] = match length {
        15 => &[4, 6, 5],
        14 => &[4, 6, 4],
        _ => &[4, 4, 4, 4],
    };
    grouped(&number, groups, random.one_of(&GAPS))
}

pub fn iban(random: &mut Random) -> String {
    let (country, length) = [
        ("DE", 22),
        ("NO", 15),
        ("GB", 22),
        ("MT", 31),
        ("FR", 27),
        ("SC", 31),
    ][random.below(6)];
    let characters = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let account: String = (4..length)
        .map(|_| char::from(characters[random.below(if country == "DE" { 10 } else { 36 })]))
        .collect();
    let rest = format!("{account}{country}00")
        .bytes()
        .fold(0, |rest, one| match one {
            b'0'..=b'9' => (10 * rest + u32::from(one - b'0')) % 97,
            _ => (100 * rest + u32::from(one - b'A') + 10) % 97,
        });
    let number = format!("{country}{:02}{account}", 98 - rest);
    let number = if random.below(4) == 0 {
        number.to_lowercase()
    } else {
        number
    };
    grouped(&number, &[4; 8], random.one_of(&GAPS))
}

pub fn ip(random: &mut Random) -> String {
    let octets: Vec<String> = (0..4).map(|_| random.below(256).to_string()).collect();
    if random.below(2) == 0 {
        return octets.join(".");
    }
    // Prefixes of global, unique local, link-local and multicast addresses.
    let first = [0x2001, 0x2a00, 0x2606, 0xfd12, 0xfe80, 0xff02][random.below(6)];
    let mut groups = [first, 0, 0, 0, 0, 0, 0, 0];
    for _ in 0..random.below(9) {
        groups[1 + random.below(7)] = random.below(0x10000) as u16;
    }
    match random.below(4) {
        0 => groups.map(|group| format!("{group:x}")).join(":"),
        1 => groups.map(|group| format!("{group:04X}")).join(":"),
        2 if groups[1..] != [0; 7] => Ipv6Addr::from(groups).to_string(),
        _ => format!("::ffff:{}", octets.join(".")),
    }
}

pub fn phone(random: &mut Random) -> String {
    let country = random.one_of(&["1", "49", "44", "86", "358", "7", "998"]);
    let count = 6 + random.below(15 - 6 - country.len() + 1);
    let number = digits(random, count);
    let gap = random.one_of(&[
        "", " ", "-", ".", "/", " / ", " - ", "\n", "\u{a0}", "\u{2013}",
    ]);
    let groups = [2 + random.below(3), 2 + random.below(4)];
    let rest = grouped(&number, &groups, gap);
    match random.below(3) {
        0 => format!("+{country} ({}) {}", &number[..2], &number[2..]),
        1 => format!("+{country}{gap}{rest}"),
        _ => format!("+{country} {rest}"),
    }
}

pub fn url(random: &mut Random) -> String {
    let scheme = random.one_of(&["http", "https", "HTTPS"]);
    let host = random.one_of(&[
        "example.org",
        "10.0.0.1:8080",
        "b\u{fc}cher.example",
        "[::1]",
        "xn--p1ai",
    ]);
    let path = random.one_of(&[
        "",
        "/",
        "/a_(b)",
        "/a%20b",
        "/x?y=1&z=[2]",
        "/#f",
        "/@user/~a",
        "/\u{e9}",
    ]);
    format!("{scheme}://{host}{path}")
}
